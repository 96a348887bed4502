# Ring all-reduce over TCP, a rank a task of a Slurm step: every rank sends to the next one and hears from the one before.
# usage: srun perl ring.pl FOLDER FLOATS ROUNDS      FOLDER: empty, seen by all ranks
# Rank 0 prints the sum that every element has in the end; any rank fails when an element is wrong.
use strict;
use warnings;
use Socket;

my ($folder, $floats, $rounds) = @ARGV;
my ($rank, $size) = @ENV{qw(SLURM_PROCID SLURM_NTASKS)};
my $part = int($floats / $size) || 1;  # floats of one of the `size` parts

# Where I listen, told to the others by a file.
socket(my $door, PF_INET, SOCK_STREAM, 0) or die "socket: $!";
bind($door, sockaddr_in(0, INADDR_ANY)) && listen($door, 1) or die "listen: $!";
my ($port) = sockaddr_in(getsockname($door));
chomp(my $host = `hostname`);
open(my $out, '>', "$folder/$rank.new") or die "$folder: $!";
print $out "$host $port";
close($out);
rename("$folder/$rank.new", "$folder/$rank");

my $next = "$folder/" . ($rank + 1) % $size;
select(undef, undef, undef, 0.05) until -e $next;
open(my $in, '<', $next) or die "$next: $!";
my ($there, $at) = split(' ', <$in>);
socket(my $to, PF_INET, SOCK_STREAM, 0) or die "socket: $!";
connect($to, sockaddr_in($at, inet_aton($there))) or die "$there: $!";
accept(my $from, $door) or die "accept: $!";
$to->blocking(0);

# Sends to the next rank while it hears from the one before: with both waiting to send, nobody would go on.
sub exchange {
  my ($text) = @_;
  my ($sent, $heard, $length) = (0, '', length($text));
  while ($sent < $length || length($heard) < $length) {
    my ($readable, $writable) = ('', '');
    vec($readable, fileno($from), 1) = 1 if length($heard) < $length;
    vec($writable, fileno($to), 1) = 1 if $sent < $length;
    select($readable, $writable, undef, undef);
    if ($sent < $length && vec($writable, fileno($to), 1)) {
      my $n = syswrite($to, $text, $length - $sent, $sent);
      die "send: $!" if !defined($n) && !$!{EAGAIN};
      $sent += $n || 0;
    }
    if (length($heard) < $length && vec($readable, fileno($from), 1)) {
      sysread($from, $heard, $length - length($heard), length($heard)) or die "a neighbour went away: $!";
    }
  }
  return $heard;
}

for (1 .. $rounds) {
  my @parts = map { [($rank + 1) x $part] } 1 .. $size;
  for my $step (0 .. $size - 2) {  # reduce-scatter: after it I have one whole part
    my @heard = unpack('f*', exchange(pack('f*', @{$parts[($rank - $step) % $size]})));
    my $sum = $parts[($rank - $step - 1) % $size];
    $sum->[$_] += $heard[$_] for 0 .. $#heard;
  }
  for my $step (0 .. $size - 2) {  # all-gather
    my $heard = exchange(pack('f*', @{$parts[($rank + 1 - $step) % $size]}));
    $parts[($rank - $step) % $size] = [unpack('f*', $heard)];
  }
  for my $each (@parts) {
    for my $value (@$each) { die "wrong sum $value" if $value != $size * ($size + 1) / 2 }
  }
}
print "sum ", $size * ($size + 1) / 2, "\n" if $rank == 0;

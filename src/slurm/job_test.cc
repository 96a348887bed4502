#include "slurm/job.h"

#include <gmock/gmock.h>

namespace espalier::slurm {
namespace {

using testing::ElementsAre;

constexpr const char* kWaiting =
    "JobId=7 JobName=my NumNodes=9 job UserId=ubuntu(1000) GroupId=ubuntu(1000) MCS_label=N/A Priority=1 Nice=0 "
    "Account=(null) QOS=(null) JobState=PENDING Reason=Resources Dependency=(null) Requeue=1 "
    "StartTime=2026-01-02T03:04:05 Partition=nvl AllocNode:Sid=login-1:99 ReqNodeList=g-[1-2] ExcNodeList=g-4 "
    "NodeList= "
    "NumNodes=16-16 NumCPUs=16 Features=(null) OverSubscribe=NO Switches=1@00:05:00 SegmentSize=8\n";

TEST(Job, IsReadBehindItsName) {
  const auto job = read_job(kWaiting).value();
  EXPECT_EQ(job.id, "7");
  EXPECT_EQ(job.state, "PENDING");
  EXPECT_EQ(job.reason, "Resources");
  EXPECT_EQ(job.partition, "nvl");
  EXPECT_EQ(job.dependency, "");
  EXPECT_EQ(job.nodes, 16);
  EXPECT_EQ(job.switches, 1);
  EXPECT_EQ(job.segment, 8);
  EXPECT_THAT(job.only, ElementsAre("g-1", "g-2"));
  EXPECT_THAT(job.not_on, ElementsAre("g-4"));
}

TEST(Job, OfAnArrayTheOneThatWaits) {
  const auto job = read_job(
      "JobId=8 JobName=a UserId=u JobState=RUNNING NodeList=g-1\n"
      "JobId=7 JobName=a UserId=u JobState=PENDING Reason=None\n");
  EXPECT_EQ(job->id, "7");
  EXPECT_EQ(job->reason, "");
  EXPECT_FALSE(job->segment);
}

TEST(Job, NothingIsNoJob) {
  EXPECT_EQ(read_job("").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(read_job("slurm_load_jobs error: Invalid job id specified").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace espalier::slurm

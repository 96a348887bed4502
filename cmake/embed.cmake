# Writes the text file SOURCE as a string_view named SYMBOL. Raw literals have a size limit, so it is cut into pieces.
file(READ ${SOURCE} text)
string(LENGTH "${text}" length)
set(pieces "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 8000 piece)
  string(APPEND pieces "R\"~~~(${piece})~~~\"\n")
  math(EXPR at "${at} + 8000")
endwhile()
file(WRITE ${OUTPUT}
  "#include <string_view>\nnamespace espalier::embedded {\nextern const std::string_view ${SYMBOL};\n"
  "const std::string_view ${SYMBOL} =\n${pieces};\n}\n")

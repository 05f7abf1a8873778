"""Shapes of source files and of licences.

A language has the head of a file and a function. The words of their gaps come from elsewhere;
a name in capitals is the same word with a capital letter.
"""

CODE = {
    "py": ('# Copyright {holder}. See the file LICENSE for the terms.\n"""{about}"""\nimport os\nimport sys\n',
           'def {verb}_{noun}(path, {other}):\n    """{about}"""\n    {other}.append(path)\n    return {other}\n'),
    "rs": ("// Copyright {holder}. License: see the file LICENSE.\n//! {about}\nuse std::path::Path;\n",
           "/// {about}\npub fn {verb}_{noun}(path: &Path, {other}: &mut Vec<{NOUN}>) -> usize {{\n    {other}.push({NOUN}::default());\n    {other}.len()\n}}\n"),
    "c": ("/* Copyright {holder}. Licensed as the file LICENSE says.\n   {about} */\n#include <stdlib.h>\n",
          "/* {about} */\nint {verb}_{noun}(struct {noun} *{noun}, const struct {other} *{other}_list)\n{{\n\treturn {noun}->count;\n}}\n"),
    "java": ("/* Copyright {holder}. All rights reserved by the authors.\n * {about} */\npackage org.example;\nimport java.util.List;\n",
             "/** {about} */\nfinal class {VERB}{NOUN} {{\n    List<{OTHER}> {verb}All{OTHER}(List<{OTHER}> {other}List) {{ return {other}List; }}\n}}\n"),
    "js": ("// Copyright {holder}, MIT license.\n// {about}\nimport {{ log }} from './log.js';\n",
           "// {about}\nexport function {verb}{NOUN}({noun}, {other}) {{\n  if (!{other}) throw new Error('no {other}');\n  return {noun}.{verb}({other});\n}}\n"),
    "go": ("// Copyright {holder}.\n// {about}\npackage main\n\nimport \"fmt\"\n",
           "// {VERB}{NOUN}: {about}\nfunc {VERB}{NOUN}({other} string) error {{\n\treturn fmt.Errorf(\"{noun} %s\", {other})\n}}\n"),
}

LICENCES = {
    "MIT": """MIT License

Copyright (c) {year} {holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files, to deal in the software without restriction, including the rights to use, copy, modify, merge, publish, distribute and sell copies. The above copyright notice and this permission notice shall be included in all copies.

The software is provided "as is", without warranty of any kind. In no event shall the authors or copyright holders be liable for any claim, damages or other liability.
""",
    "BSD": """Copyright {year} {holder}. All rights reserved.

Redistribution and use in source and binary forms, with or without modification, are permitted provided that redistributions retain the above copyright notice, this list of conditions and the following disclaimer. Neither the name of the author nor the names of contributors may be used to endorse products without written permission.

This software is provided by the authors "as is" and any express or implied warranties are disclaimed. In no event shall the author be liable for any damages arising in any way out of the use of this software.
""",
    "Apache": """Apache License, Version 2.0. Copyright {year} {holder}

Licensor shall mean the copyright owner or entity authorized by the copyright owner that is granting the license. Legal entity shall mean the union of the acting entity and all other entities that control it. Contribution shall mean any work of authorship submitted to the licensor for inclusion in the work.

Each contributor grants you a perpetual, worldwide, royalty-free copyright license to reproduce, prepare derivative works of, sublicense and distribute the work. Unless required by applicable law or agreed to in writing, the licensor provides the work on an "as is" basis, without warranties or conditions of any kind.
""",
}


def licence(kind, holder, year):
    """The text of a licence."""
    return LICENCES[kind].format(holder=holder, year=year)

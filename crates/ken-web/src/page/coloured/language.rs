//! What comments, strings and keywords look like in the commonest languages.

/// How a language is written, as far as colours need it.
#[derive(Debug)]
pub(in crate::page) struct Language {
    media_types: &'static [&'static str],
    /// What begins a comment up to the end of the line.
    pub(super) lines: &'static [&'static str],
    /// What begins and ends a comment. One that begins with `=` stands at the beginning of a line.
    pub(super) blocks: &'static [(&'static str, &'static str)],
    /// Whether a comment begins only behind white space.
    pub(super) comments_after_space: bool,
    pub(super) quotes: &'static [Quote],
    pub(super) keywords: &'static str,
    /// Whether keywords may be in capitals.
    pub(super) ignores_case: bool,
    /// Characters of words besides letters, digits and `_`.
    pub(super) letters: &'static str,
    /// What follows a name at the beginning of a line that is coloured as a keyword.
    pub(super) label_end: Option<char>,
}

/// What begins and ends a string.
#[derive(Debug)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    pub(super) quoting: Quoting,
}

/// How far a string goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Quoting {
    /// Up to the end of the line; a backslash keeps the next character from ending it.
    Line,
    /// Over several lines; a backslash keeps the next character from ending it.
    Lines,
    /// Over several lines, and a backslash means nothing.
    Raw,
    /// One character.
    Character,
}

const fn quote(open: &'static str, close: &'static str, quoting: Quoting) -> Quote {
    Quote {
        open,
        close,
        quoting,
    }
}

const DOUBLE: Quote = quote("\"", "\"", Quoting::Line);
const DOUBLES: Quote = quote("\"", "\"", Quoting::Lines);
const SINGLE: Quote = quote("'", "'", Quoting::Line);
const CHARACTER: Quote = quote("'", "'", Quoting::Character);
const TRIPLE: Quote = quote("\"\"\"", "\"\"\"", Quoting::Lines);
const C_COMMENT: &[(&str, &str)] = &[("/*", "*/")];

/// A language with the comments and strings of C, and nothing else.
const C_LIKE: Language = Language {
    media_types: &[],
    lines: &["//"],
    blocks: C_COMMENT,
    comments_after_space: false,
    quotes: &[DOUBLE, CHARACTER],
    keywords: "",
    ignores_case: false,
    letters: "",
    label_end: None,
};

/// A language with comments behind `#`.
const SCRIPT: Language = Language {
    lines: &["#"],
    blocks: &[],
    quotes: &[DOUBLE, SINGLE],
    ..C_LIKE
};

#[rustfmt::skip] // a table reads better as one
const LANGUAGES: &[Language] = &[
    Language {
        media_types: &["text/x-c", "text/x-c++", "text/x-objective-c", "text/x-cuda", "text/x-opencl", "text/x-arduino", "text/x-glsl"],
        quotes: &[quote("R\"(", ")\"", Quoting::Raw), DOUBLE, CHARACTER],
        letters: "#",
        keywords: "alignas alignof auto bool break case catch char class co_await co_return co_yield concept const \
            consteval constexpr constinit continue decltype default delete do double dynamic_cast else enum explicit \
            export extern false final float for friend goto if inline int long mutable namespace new noexcept nullptr \
            NULL operator override private protected public register requires restrict return short signed sizeof \
            static static_assert static_cast struct switch template this throw true try typedef typeid typename union \
            unsigned using virtual void volatile wchar_t while #define #elif #else #endif #error #if #ifdef #ifndef \
            #import #include #pragma #undef size_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t",
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-rust"],
        quotes: &[
            quote("r##\"", "\"##", Quoting::Raw),
            quote("r#\"", "\"#", Quoting::Raw),
            quote("r\"", "\"", Quoting::Raw),
            DOUBLES,
            CHARACTER,
        ],
        keywords: "as async await box break const continue crate dyn else enum extern false fn for if impl in let loop \
            match mod move mut pub ref return self Self static struct super trait true type union unsafe use where \
            while bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize Some None Ok Err",
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-go"],
        quotes: &[quote("`", "`", Quoting::Raw), DOUBLE, CHARACTER],
        keywords: "any bool break byte case chan complex128 complex64 const continue default defer else error false \
            fallthrough float32 float64 for func go goto if import int int16 int32 int64 int8 interface iota map nil \
            package range return rune select string struct switch true type uint uint16 uint32 uint64 uint8 uintptr var",
        ..C_LIKE
    },
    Language {
        media_types: &["text/javascript", "text/x-typescript", "text/x-vue", "text/x-svelte", "text/x-astro", "text/x-qml"],
        quotes: &[quote("`", "`", Quoting::Lines), DOUBLE, SINGLE],
        letters: "$",
        keywords: "abstract any as async await bigint boolean break case catch class const constructor continue \
            debugger declare default delete do else enum export extends false finally for from function get if \
            implements import in infer instanceof interface is keyof let namespace never new null number object of \
            private protected public readonly return satisfies set static string super switch symbol this throw true \
            try type typeof undefined unknown var void while with yield",
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-java", "text/x-groovy"],
        quotes: &[TRIPLE, DOUBLE, CHARACTER],
        letters: "@",
        keywords: "abstract assert boolean break byte case catch char class const continue default do double else enum \
            exports extends false final finally float for goto if implements import instanceof int interface long \
            module native new non-sealed null package permits private protected public record requires return sealed \
            short static strictfp super switch synchronized this throw throws transient true try var void volatile \
            while yield @Override def in as",
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-csharp", "text/x-vala"],
        quotes: &[TRIPLE, quote("@\"", "\"", Quoting::Raw), DOUBLE, CHARACTER],
        letters: "#",
        keywords: "abstract as async await base bool break byte case catch char checked class const continue decimal \
            default delegate do double else enum event explicit extern false finally fixed float for foreach get goto \
            if implicit in init int interface internal is lock long namespace new null object operator out override \
            params partial private protected public readonly record ref required return sbyte sealed set short sizeof \
            stackalloc static string struct switch this throw true try typeof uint ulong unchecked unsafe ushort using \
            value var virtual void volatile when where while with yield #if #else #endif #region #endregion",
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-kotlin", "text/x-scala"],
        quotes: &[quote("\"\"\"", "\"\"\"", Quoting::Raw), DOUBLE, CHARACTER],
        keywords: "abstract actual as break by case catch class companion const constructor continue crossinline data \
            def do else enum expect extends external false final finally for forSome fun get given if implicit import \
            in infix init inline inner interface internal is lateinit lazy match new noinline null object open \
            operator out override package private protected public reified return sealed set super suspend tailrec \
            then this throw trait true try type typealias using val value var vararg when where while with yield",
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-swift", "text/x-dart"],
        quotes: &[TRIPLE, quote("'''", "'''", Quoting::Lines), DOUBLE, SINGLE],
        letters: "@#",
        keywords: "abstract actor any as associatedtype async await base break case catch class const continue convenience \
            covariant default defer deinit deferred didSet do dynamic else enum export extends extension external \
            factory false fallthrough fileprivate final finally for func get guard if implements import in indirect \
            init inout interface internal is late lazy let library mixin mutating nil null on open operator override \
            part precedencegroup private protocol public repeat required rethrows return sealed self Self set show \
            some static struct subscript super switch sync this throw throws true try typealias typedef unowned var \
            void weak where while willSet with yield bool int double num String Int Bool @escaping @objc @override",
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-php", "text/x-hack"],
        lines: &["//", "#"],
        quotes: &[DOUBLE, SINGLE],
        letters: "$",
        ignores_case: true,
        keywords: "abstract and array as break callable case catch class clone const continue declare default do echo \
            else elseif empty enum extends false final finally fn for foreach function global goto if implements \
            include include_once instanceof insteadof int interface isset list match mixed namespace never new null or \
            print private protected public readonly require require_once return self static string switch this throw \
            trait true try unset use var void while xor yield bool float php",
        ..C_LIKE
    },
    Language {
        media_types: &["text/css", "text/x-scss", "text/x-less", "text/x-sass", "text/x-stylus"],
        quotes: &[DOUBLE, SINGLE],
        letters: "-@!$#%",
        label_end: Some(':'),
        keywords: "@charset @container @extend @font-face @forward @function @if @else @each @for @import @include \
            @keyframes @layer @media @mixin @namespace @page @property @return @supports @use !important !default",
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-zig", "text/x-solidity", "text/x-protobuf", "text/x-thrift", "text/x-d", "text/x-verilog", "text/x-systemverilog", "text/x-graphql"],
        keywords: "abstract address always and assert assign async await begin bool break bytes case catch class const \
            constructor continue contract default defer do else emit end endcase endfunction endmodule enum error \
            event export extends external false final float fn for foreach function if implements import in \
            initial inout input int int32 int64 interface internal logic mapping memory message method modifier \
            module namespace new null oneof optional option or orelse output package payable private public pure \
            query reg repeated required return returns rpc schema service static storage string struct subscription \
            switch syntax test throw true try type uint uint256 uint32 uint64 undefined union unreachable unsafe \
            using var view void while wire",
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-python", "text/x-starlark", "text/x-cython", "text/x-mojo", "text/x-gdscript"],
        quotes: &[TRIPLE, quote("'''", "'''", Quoting::Lines), DOUBLE, SINGLE],
        letters: "@",
        keywords: "and as assert async await break case class continue def del elif else except False finally for from \
            func global if import in is lambda match None nonlocal not or pass raise return self True try while with \
            yield bool bytes dict float int list set str tuple @property @staticmethod @classmethod @dataclass cdef \
            cpdef extends signal var",
        ..SCRIPT
    },
    Language {
        media_types: &["text/x-ruby", "text/x-crystal", "text/x-elixir"],
        blocks: &[("=begin", "=end")],
        quotes: &[TRIPLE, DOUBLES, SINGLE],
        letters: "?!@",
        comments_after_space: true,
        keywords: "alias and begin BEGIN break case class cond def defmodule defp defstruct do else elsif end END ensure \
            extend false fn for if import in include module next nil not or private protected public puts quote raise \
            redo require require_relative rescue retry return self super then true undef unless until use when while \
            with yield attr_accessor attr_reader attr_writer",
        ..SCRIPT
    },
    Language {
        media_types: &["text/x-perl", "text/x-raku", "text/x-awk"],
        blocks: &[("=pod", "=cut"), ("=head1", "=cut"), ("=begin", "=cut")],
        comments_after_space: true,
        keywords: "BEGIN END and cmp continue default die do each else elsif eq eval exit for foreach function ge getline \
            given gt if in keys last le local lt my ne next no not open or our package print printf push redo ref \
            require return say shift sub undef unless unshift until use values wantarray warn when while xor",
        ..SCRIPT
    },
    Language {
        media_types: &["text/x-shellscript", "text/x-fish", "text/x-bitbake"],
        quotes: &[DOUBLES, quote("'", "'", Quoting::Raw)],
        letters: "-",
        comments_after_space: true,
        keywords: "alias begin break case cd continue declare do done echo elif else end esac eval exec exit export fi \
            for function if in inherit local printf read readonly require return select set shift source switch test \
            then time trap true false typeset unset until while",
        ..SCRIPT
    },
    Language {
        media_types: &["text/x-powershell"],
        blocks: &[("<#", "#>")],
        quotes: &[quote("@\"", "\"@", Quoting::Raw), quote("\"", "\"", Quoting::Raw), quote("'", "'", Quoting::Raw)],
        letters: "$-",
        ignores_case: true,
        keywords: "begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for \
            foreach from function if in param process return switch throw trap try until using while -eq -ne -gt -ge \
            -lt -le -like -match -and -or -not $true $false $null",
        ..SCRIPT
    },
    Language {
        media_types: &["text/x-julia"],
        blocks: &[("#=", "=#")],
        quotes: &[TRIPLE, DOUBLES, CHARACTER],
        letters: "@!",
        keywords: "abstract baremodule begin break catch const continue do else elseif end export false finally for \
            function global if import in isa let local macro module mutable nothing primitive quote return struct true \
            try type using where while",
        ..SCRIPT
    },
    Language {
        media_types: &["text/x-r", "text/x-nim"],
        quotes: &[TRIPLE, DOUBLES, SINGLE],
        letters: ".",
        keywords: "begin break case catch const continue discard do else elseif elif end export FALSE \
            false finally for from func function global if import in Inf iterator let library local macro method \
            module mut mutable NA NaN next nil NULL of proc primitive quote repeat require return struct template \
            TRUE true try tuple type using var when where while yield",
        ..SCRIPT
    },
    Language {
        media_types: &["text/x-makefile", "text/x-cmake", "text/x-meson", "text/x-dockerfile", "text/x-tcl", "text/x-hcl"],
        blocks: C_COMMENT,
        letters: "-",
        comments_after_space: true,
        keywords: "ifeq ifneq ifdef ifndef else endif include define endef export override foreach endforeach function \
            endfunction if elseif macro endmacro set add_executable add_library target_link_libraries find_package \
            project option install FROM RUN CMD COPY ADD ENV ARG WORKDIR ENTRYPOINT EXPOSE LABEL USER VOLUME AS proc return puts resource data variable output provider module locals \
            true false null and or not",
        ..SCRIPT
    },
    Language {
        media_types: &["text/x-nix"],
        blocks: C_COMMENT,
        quotes: &[quote("''", "''", Quoting::Raw), DOUBLES],
        letters: "-'",
        keywords: "assert else false if import in inherit let null or rec then true with builtins",
        ..SCRIPT
    },
    Language {
        media_types: &["application/json", "text/x-jsonnet"],
        quotes: &[DOUBLE],
        label_end: Some(':'),
        keywords: "true false null local function import if then else for in",
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-yaml"],
        comments_after_space: true,
        label_end: Some(':'),
        keywords: "true false null yes no on off",
        ..SCRIPT
    },
    Language {
        media_types: &["text/x-toml", "text/x-ini", "text/x-properties", "text/x-env"],
        lines: &["#", ";"],
        quotes: &[TRIPLE, DOUBLE, SINGLE],
        comments_after_space: true,
        label_end: Some('='),
        keywords: "true false",
        ..SCRIPT
    },
    Language {
        media_types: &["text/x-sql", "text/x-plsql", "text/x-sparql"],
        lines: &["--"],
        quotes: &[quote("'", "'", Quoting::Raw), DOUBLE],
        ignores_case: true,
        keywords: "add all alter and as asc avg begin between bigint boolean by cascade case cast char check column \
            commit constraint count create cross current_date current_timestamp cursor database date decimal declare \
            default delete desc distinct drop else end except exists false fetch float for foreign from full function \
            grant group having if in index inner insert int integer intersect into is join key left like limit loop \
            max min natural not null numeric offset on or order outer over partition primary procedure references \
            replace return returns revoke right rollback row rows select set smallint sum table temporary text then \
            timestamp to transaction trigger true union unique update using values varchar view when where while with",
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-lua"],
        lines: &["--"],
        blocks: &[("--[[", "]]")],
        quotes: &[quote("[[", "]]", Quoting::Raw), DOUBLE, SINGLE],
        keywords: "and break do else elseif end false for function goto if in local nil not or repeat return self then \
            true until while",
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-haskell", "text/x-elm", "text/x-purescript", "text/x-idris", "text/x-agda", "text/x-lean"],
        lines: &["--"],
        blocks: &[("{-", "-}"), ("/-", "-/")],
        letters: "'",
        keywords: "abbrev as case class data def default deriving do else end example export exposing family forall foreign \
            fun hiding if import in inductive infix infixl infixr instance let match module mutual namespace newtype of \
            open qualified record structure then theorem type variable where with",
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-ocaml", "text/x-fsharp", "text/x-sml", "text/x-coq"],
        lines: &[],
        blocks: &[("(*", "*)")],
        letters: "'",
        keywords: "and as assert async begin class constraint default do done downto else end exception external false \
            fixpoint for fun function functor if in include inherit inline inductive interface lazy let lemma match \
            member method module mutable namespace new nonrec null object of open or override private proof rec ref \
            sig struct task theorem then to true try type use val virtual when while with yield definition qed",
        ignores_case: false,
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-common-lisp", "text/x-emacs-lisp", "text/x-scheme", "text/x-racket", "text/x-clojure", "text/x-fennel", "text/x-janet"],
        lines: &[";"],
        blocks: &[("#|", "|#")],
        quotes: &[DOUBLES],
        letters: "-*?!+/<>=:",
        keywords: "and begin case catch cond condition-case declare def defconst defcustom define define-syntax defmacro \
            defmethod defn defn- defparameter defstruct defun defvar do dolist dotimes else fn if in-package interactive \
            lambda let let* letrec local loop nil not ns or progn provide quote recur require require setf setq t throw \
            try unless unwind-protect use-package values when while true false",
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-erlang", "text/x-prolog", "text/x-tex-macros", "text/x-matlab"],
        lines: &["%"],
        quotes: &[DOUBLE, SINGLE],
        letters: "\\",
        keywords: "after and andalso begin break case catch classdef cond continue div else elseif end false fun function \
            global if is let maybe methods module not of or orelse otherwise properties receive rem return switch true \
            try when while xor \\def \\newcommand \\renewcommand \\begin \\end \\if \\fi \\else \\let",
        ..C_LIKE
    },
    Language {
        media_types: &["text/x-pascal", "text/x-ada", "text/x-vhdl", "text/x-fortran", "text/x-basic", "text/x-vb"],
        lines: &["//", "--", "!"],
        blocks: &[("{", "}"), ("(*", "*)")],
        quotes: &[DOUBLE, SINGLE],
        ignores_case: true,
        comments_after_space: true,
        keywords: "abs accept access all allocate and architecture array as begin body boolean byref byval call case \
            character class const constant constructor contains deallocate declare dim do double downto else elseif elsif end \
            endif entity exception exit false file for function generic goto if implementation implicit in inherited \
            inout integer intent interface is library logical loop map mod module new next nil none not null of optional \
            or others out override package parameter port private procedure process program property protected public \
            raise real record repeat return select self set signal string sub subroutine subtype then to true try type \
            unit until use uses var variable wend when where while with xor",
        ..C_LIKE
    },
];

impl Language {
    /// Returns the language of a media type, if it has colours.
    pub(in crate::page) fn of(media_type: &str) -> Option<&'static Self> {
        LANGUAGES
            .iter()
            .find(|language| language.media_types.contains(&media_type))
    }

    #[cfg(test)]
    pub(super) fn all() -> impl Iterator<Item = &'static Self> {
        LANGUAGES.iter()
    }
}

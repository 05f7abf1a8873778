//! The letters beyond ASCII that languages use, by which charsets are told apart.

/// The languages of a charset: their frequent letters, and their others.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Languages {
    frequent: &'static str,
    others: &'static str,
}

/// Of a charset whose languages are not known, every letter counts alike.
pub(super) const NO_LANGUAGES: Languages = Languages {
    frequent: "äöüéèêàáíóúñçâîôûåæøÄÖÜÉÅØоеаинтсрвлкмдпуяыαειοντσρ",
    others: "",
};

impl Languages {
    pub(super) const WESTERN: Self = Self {
        frequent: "äöüéèêàáíóúñçâîôåæøãÄÖÜÉÅØ",
        others: "õûëïìòùœýðþœŒÀÁÂÃÇÈÊÌÍÎÐÑÒÓÔÕÚÛÝÞÆÿªº",
    };
    pub(super) const CENTRAL: Self = Self {
        frequent: "ąćęłńóśźżáčéěíňřšťúůýžöüőű",
        others: "ďĺľŕôäßđşţăâîĄĆĘŁŃÓŚŹŻÁČĎÉĚÍŇŘŠŤÚŮÝŽÖÜŐŰÄÔĽĐŞŢĂÂÎ",
    };
    pub(super) const CYRILLIC: Self = Self {
        frequent: "оеаинтсрвлкмдпуяОЕАИНТСРВЛКМДПУЯ",
        others: "ыьгзбчйхжшюцщэфъёіїєґЫЬГЗБЧЙХЖШЮЦЩЭФЪЁІЇЄҐ",
    };
    pub(super) const GREEK: Self = Self {
        frequent: "αειοντσρςκλπυμ",
        others: "ηγδθφχβωξζψάέήίόύώΑΕΙΟΝΤΣΡΚΛΠΥΜΗΓΔΘΦΧΒΩΞΖΨΆΈΉΊΌΎΏ",
    };
    pub(super) const TURKISH: Self = Self {
        frequent: "ıüşğöç",
        others: "âîûİÜŞĞÖÇ",
    };
    pub(super) const BALTIC: Self = Self {
        frequent: "šėųąžčįūęāīēõäöü",
        others: "ļņķģŠĖŲĄŽČĮŪĘĀĪĒÕÄÖÜĻŅĶĢ",
    };
    pub(super) const HEBREW: Self = Self {
        frequent: "אבגדהוזחטיכלמנסעפצקרשת",
        others: "ךםןףץ",
    };
    pub(super) const ARABIC: Self = Self {
        frequent: "ابتدرسعفقكلمنهويةأ",
        others: "ثجحخذزشصضطظغءآؤإئىـ",
    };
    pub(super) const THAI: Self = Self {
        frequent: "กขคงจชดตถทนบปผพมยรลวสหอาำเแโใไ\u{e30}\u{e31}\u{e34}\u{e35}\u{e36}\u{e37}\u{e38}\u{e39}\u{e48}\u{e49}",
        others: "ฃฅฆฉซฌญฎฏฐฑฒณธฝฟภศษฬฮฯๆ\u{e47}\u{e4a}\u{e4b}\u{e4c}",
    };

    /// Returns the points of a letter beyond ASCII.
    pub(super) fn points(self, letter: char) -> i32 {
        match letter {
            // Letters of scripts without capitals fill their code pages, so that much looks like them.
            '\u{590}'..='\u{6ff}' | '\u{e00}'..='\u{e7f}' if self.frequent.contains(letter) => 3,
            _ if self.frequent.contains(letter) => 4,
            _ if self.others.contains(letter) => 2,
            // Of no known language.
            _ if self.others.is_empty() => 1,
            _ => -3,
        }
    }
}

/// Characters of East Asia: which are frequent, and where a charset has the frequent ones.
///
/// Ranks of pairs of bytes in charsets of East Asia: above zero where frequent characters are, below
/// where rare ones or none are.
pub(super) mod east_asian {
    /// Characters that are frequent in names of files and folders, and in texts.
    const FREQUENT: &str = "的一是不了在人有我他这這中大来來上国國个個到说說们們为為子和你地出道也时時年得就那要下以生会會自着去之过過家学學对對可里后後么多天而能好都然没日于起还發发成事只作当當想看文无無开開手十用主行方又如前所本见見经經头頭面公同三已老从從动動两兩长長知新件夹夾档檔照片图圖报報表合约約纪紀要议議录錄录计計划劃数數据資料资说明书書使册冊算发票简历歷工程项項目管理公司通知名单單总總结結申请請系统統设設计计备備份文字测測试試音乐樂视視频頻电電影下载載桌面我的文库共享日记記事本期末考试复習课课件作业業教师師学习練練习真題答案第章节節部分附件议会記録議事請求履歴写真夏休取扱説予算契約書類見積領収仕様設定資料日程案内会議報告打合更新確認企画一覧東京電話番号名簿住所年賀状画像動画音楽集最終修正版電子帳簿給与明細이다는의가을에고하지한를은로도서기사인대어자나부리아전시그해수있정보문서새폴더사진음악노래회록계약이력세금산예설명자료파일보고신청공지목원안내학교과제시험성적표동영상바탕화면내복사최종수본";

    /// Returns whether a character is frequent.
    pub(in crate::text) fn is_frequent(character: char) -> bool {
        matches!(character, '\u{3041}'..='\u{30fe}') || FREQUENT.contains(character)
    }

    /// Kana and the kanji of level 1, of JIS X 0208.
    pub(in crate::text) fn shift_jis(first: u8, second: u8) -> i32 {
        match first {
            0x82 if second >= 0x9f => 2,
            0x83 if second <= 0x96 => 2,
            0x81 => 0,
            0x88..=0x98 => 3,
            0x99..=0x9f | 0xe0..=0xea => -3,
            _ => -6,
        }
    }

    /// Kana and the kanji of level 1, of JIS X 0208.
    pub(in crate::text) fn euc_jp(first: u8, second: u8) -> i32 {
        match first {
            _ if second < 0xa1 => -6,
            0xa4 | 0xa5 => 2,
            0xa1 => 0,
            0xb0..=0xcf => 2,
            0xd0..=0xf4 => -3,
            _ => -6,
        }
    }

    /// The characters of level 1 of GB 2312.
    pub(in crate::text) fn gbk(first: u8, second: u8) -> i32 {
        match first {
            _ if second < 0xa1 => -4,
            0xb0..=0xd7 => 3,
            0xd8..=0xf7 => -2,
            0xa1 | 0xa3 => 0,
            _ => -4,
        }
    }

    /// The frequent characters of Big5.
    pub(in crate::text) fn big5(first: u8, second: u8) -> i32 {
        match first {
            _ if matches!(second, 0x7f..=0xa0) => -6,
            0xa4..=0xc6 => 3,
            0xc9..=0xf9 => -2,
            0xa1 => 0,
            _ => -6,
        }
    }

    /// The syllables of KS X 1001.
    pub(in crate::text) fn euc_kr(first: u8, second: u8) -> i32 {
        match first {
            _ if second < 0xa1 => -4,
            0xb0..=0xc8 => 3,
            0xa1 => 0,
            _ => -3,
        }
    }
}

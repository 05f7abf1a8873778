#![no_main]
ken_fuzz::extracts_part!(
    "iwork/fares.numbers",
    "Index/Tables/DataList.iwa",
    ken_fuzz::iwa
);

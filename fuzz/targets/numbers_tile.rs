#![no_main]
ken_fuzz::extracts_part!(
    "iwork/fares.numbers",
    "Index/Tables/Tile.iwa",
    ken_fuzz::iwa
);

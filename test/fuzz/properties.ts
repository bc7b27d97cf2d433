// Every fuzzed law. Add a new one to the list of its own file.

import { CATALOG_PROPERTIES } from './laws/catalog.ts';
import { DECODER_PROPERTIES } from './laws/decode.ts';
import { ENCODER_PROPERTIES } from './laws/encode.ts';
import { PARSER_PROPERTIES } from './laws/parse.ts';
import { READ_BACK_PROPERTIES } from './laws/read-back.ts';
import { SSE_PROPERTIES } from './laws/sse.ts';
import { USAGE_PROPERTIES } from './laws/usage.ts';
import { WORK_PROPERTIES } from './laws/work.ts';
import { WRITER_PROPERTIES } from './laws/write.ts';
import type { Property } from './property.ts';

export const PROPERTIES: readonly Property[] = [
  ...PARSER_PROPERTIES,
  ...WRITER_PROPERTIES,
  ...SSE_PROPERTIES,
  ...DECODER_PROPERTIES,
  ...USAGE_PROPERTIES,
  ...ENCODER_PROPERTIES,
  ...READ_BACK_PROPERTIES,
  ...CATALOG_PROPERTIES,
  ...WORK_PROPERTIES,
];

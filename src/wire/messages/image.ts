// Reads the source of an image block in messages and tool results. Images are never decoded or
// fetched here.

import { Type } from '@sinclair/typebox';
import { invalidRequest } from '../../core/error.ts';
import type { ImagePart } from '../../core/generation.ts';
import { described, nullable, oneOf, readObject, shape } from '../check.ts';
import { IMAGE_TYPES_RULE, imageFault, imageTypeOf, sniffImageType } from '../image-type.ts';

const readSourceType = oneOf('base64', 'url');
const readMediaType = shape(
  Type.String({
    pattern: '^image/[A-Za-z0-9.+-]+$',
    description: 'an image type such as image/png',
  }),
);
const readImageData = shape(
  Type.String({
    pattern: '^[A-Za-z0-9+/]+={0,2}$',
    description: 'base64 without a data: prefix and without line breaks',
  }),
);
const readImageUrl = shape(
  Type.String({ pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/\\s]', description: 'an http or https URL' }),
);

const SOURCE = Type.Union(
  [
    Type.Object({
      type: Type.Literal('base64'),
      media_type: Type.Optional(nullable(readMediaType.schema)),
      data: readImageData.schema,
    }),
    Type.Object({ type: Type.Literal('url'), url: readImageUrl.schema }),
  ],
  { $id: 'ImageSource' },
);

/** The image of a block's `source`: a URL that the upstream fetches, or base64 as a data URL. */
export const readImage = described(SOURCE, (value, path): ImagePart => {
  const source = readObject(value, path);
  if (readSourceType(source['type'], `${path}.type`) === 'url') {
    const url = readImageUrl(source['url'], `${path}.url`);
    const fault = imageFault(url);
    if (fault !== undefined) throw invalidRequest(`${path}.url`, fault);
    return { kind: 'image', url };
  }
  const data = readImageData(source['data'], `${path}.data`);
  // Some clients omit the media type, so it is detected from the first bytes.
  const type = source['media_type'] ?? sniffImageType(data) ?? 'image/jpeg';
  const mediaType = readMediaType(type, `${path}.media_type`);
  if (imageTypeOf(mediaType) === undefined) {
    throw invalidRequest(`${path}.media_type`, IMAGE_TYPES_RULE);
  }
  return { kind: 'image', url: `data:${mediaType};base64,${data}` };
});

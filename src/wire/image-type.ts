// What kind of image some base64 is, by its first bytes. Used where an image has no type, or one
// that cannot be relied on. Nothing here decodes an image.

const SIGNATURES = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
] as const;

export function sniffImageType(base64: string): string | undefined {
  return SIGNATURES.find(([start]) => base64.startsWith(start))?.[1];
}

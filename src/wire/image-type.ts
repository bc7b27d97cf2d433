// Detects the type of a base64 image by its first bytes, for images without a reliable type. It
// does not decode the image.

const SIGNATURES = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
] as const;

export function sniffImageType(base64: string): string | undefined {
  return SIGNATURES.find(([start]) => base64.startsWith(start))?.[1];
}

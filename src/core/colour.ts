// Arithmetic of colours written as #rrggbb: contrast as WCAG 2.2 defines it. Derives the
// colours of the pages from the operator's accent.

import type { Accent } from './service.ts';

type Channels = readonly [number, number, number];

/** The contrast that WCAG AA requires of text. */
export const CONTRAST_MIN = 4.5;

/** The surface with the least contrast to an accent, for each theme. */
const SURFACES = { light: '#e6ebf0', dark: '#20262e' } as const;

/** The contrast of two colours, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

/** The contrast of an accent to the surfaces that it is text on, rounded down to two decimals. */
export function accentContrast(colour: string, theme: keyof Accent): number {
  return Math.floor(contrast(colour, SURFACES[theme]) * 100) / 100;
}

/** `share` of `a` and the rest of `b`. */
function mix(a: string, b: string, share: number): string {
  const other = channelsOf(b);
  const mixed = channelsOf(a).map((value, at) =>
    Math.round(value * share + (other[at] ?? 0) * (1 - share)),
  );
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** The accent's tokens of the style sheets, with their values in light and dark. */
export function accentTokens({ light, dark }: Accent): Readonly<Record<string, Accent>> {
  const strong = { light: mix(light, '#000000', 0.77), dark: mix(dark, '#ffffff', 0.77) };
  return {
    accent: { light, dark },
    'accent-strong': strong,
    'accent-soft': { light: mix(light, '#ffffff', 0.12), dark: mix(dark, '#14181d', 0.2) },
    'side-active': { light: mix(light, '#f4f6f8', 0.14), dark: mix(dark, '#14181d', 0.2) },
  };
}

function luminance(colour: string): number {
  const [red, green, blue] = channelsOf(colour).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as unknown as Channels;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channelsOf(colour: string): Channels {
  const value = Number.parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

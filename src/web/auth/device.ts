// Names a browser and its system from the User-Agent. Pages keep the full text as a title.

import { t } from '../text/t.ts';

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, t('Edge')],
  [/\bOPR\//, t('Opera')],
  [/\bFirefox\/|\bFxiOS\//, t('Firefox')],
  [/Chrome\/|\bCriOS\//, t('Chrome')],
  [/\bSafari\//, t('Safari')],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b|\biPad\b/, 'iOS'],
  [/\bAndroid\b/, t('Android')],
  [/\bWindows\b/, t('Windows')],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, t('Linux')],
];

export function deviceName(userAgent: string): string {
  const named = (table: typeof BROWSERS) => table.find(([shape]) => shape.test(userAgent))?.[1];
  const browser = named(BROWSERS);
  const system = named(SYSTEMS);
  if (browser === undefined) return system ?? t('Unknown device');
  return system === undefined ? browser : t('{browser} on {system}', { browser, system });
}

// Where a page goes after signing in: never to another origin, never out of the application.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { nextQuery, safeNext } from '../../src/web/ui/next.ts';

const HOSTILE = [
  '//evil.example',
  '/\\evil.example',
  '/dashboard\\..\\..\\evil',
  'https://evil.example/dashboard',
  'https:evil.example',
  'javascript:alert(1)',
  '/\t/evil.example',
  '\t//evil.example',
  '/dashboard/../../evil',
  '/dashboard/..//evil.example',
  '/dashboard//evil.example',
  '/dashboardx',
  '/operator',
  'keys',
  '',
];

describe('next', () => {
  test.each(HOSTILE)('%j is refused', (next) => {
    expect(safeNext(next, '/dashboard')).toBe('/');
  });

  test('a path of the application is taken, without its prefix', () => {
    expect(
      [
        '/dashboard',
        '/dashboard/keys',
        '/dashboard/usage?from=2026-01-01&model=a%2Fb',
        '/dashboard/requests/req_1',
      ].map((next) => safeNext(next, '/dashboard')),
    ).toEqual(['/', '/keys', '/usage?from=2026-01-01&model=a%2Fb', '/requests/req_1']);
    expect(safeNext(null, '/dashboard', '/keys')).toBe('/keys');
  });

  test('the browser stays below the prefix for any value', () => {
    const parts = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      '%2f',
      '%5c',
      '@',
      ':',
      '?',
      'dashboard',
      'a',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(parts).map((all) => all.join('')),
        ),
        (next) => {
          const target = new URL(
            `/dashboard${safeNext(next, '/dashboard')}`,
            'https://ours.example',
          );
          expect(target.origin).toBe('https://ours.example');
          expect(target.pathname).toMatch(/^\/dashboard(\/|$)/);
        },
      ),
    );
  });

  test('what a page asks to come back to is taken', () => {
    const query = new URLSearchParams(nextQuery('/dashboard/requests', '?model=swift-2&after=a:b'));
    expect(safeNext(query.get('next'), '/dashboard')).toBe('/requests?model=swift-2&after=a:b');
  });
});

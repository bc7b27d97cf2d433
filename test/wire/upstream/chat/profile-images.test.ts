// Images for upstreams that accept them only as data, or not at all; the latter cannot serve the
// request.

import { describe, expect, test } from 'bun:test';
import { bodyFor, picture, user } from './request-support.ts';

describe('images', () => {
  const address = picture('https://a.example/b.png');
  const data = picture('DATA:image/png;base64,AA==');
  const onlyData = { class: 'unsupported', detail: 'this upstream takes images only as data' };
  const none = { class: 'unsupported', detail: 'this upstream takes no images' };

  test('imageUrls any', () => {
    expect(bodyFor({ imageUrls: 'any' }, { turns: [address, data] })).toHaveProperty('messages');
  });

  test('imageUrls data', () => {
    expect(bodyFor({ imageUrls: 'data' }, { turns: [data, user('Q')] })).toHaveProperty('messages');
    expect(bodyFor({ imageUrls: 'data' }, { turns: [data, address] })).toEqual(onlyData as never);
  });

  test('contentParts never', () => {
    expect(bodyFor({ contentParts: 'never' }, { turns: [user('Q'), data] })).toEqual(none as never);
  });
});

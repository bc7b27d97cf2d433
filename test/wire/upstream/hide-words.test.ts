import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { saidWords, type UpstreamSaid } from '../../../src/core/failure.ts';
import { statusFailure } from '../../../src/wire/upstream/failure.ts';
import { hideWords, SAID_LENGTH_MAX } from '../../../src/wire/upstream/hide-words.ts';
import { requestWith } from '../../support/request.ts';

const UPSTREAM_MODEL = 'vendor/model-3.1-405b';

function saidOf(message: string, text = '', more: Partial<UpstreamSaid> = {}) {
  const turns = [{ role: 'user' as const, parts: [{ kind: 'text' as const, text }] }];
  const request = requestWith({ turns });
  const hiding = { request, secrets: [SECRET], upstreamModel: UPSTREAM_MODEL };
  return hideWords({ ...more, message }, hiding);
}

const SECRET = 'sk-live-0123456789abcdef';
const OWN = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";

describe('what an upstream said, for operators', () => {
  test('keeps its own words', () => {
    expect(saidOf(OWN, 'Hello.', { code: 'unsupported_parameter', param: 'max_tokens' })).toEqual({
      code: 'unsupported_parameter',
      param: 'max_tokens',
      message: OWN,
    });
  });

  test('hides any part of the prompt of some words, in any spelling', () => {
    const secret = fc.string({
      unit: fc.constantFrom(...'abcdefghijklmnop0123456789'),
      minLength: 24,
      maxLength: 40,
    });
    const spelling = fc.constantFrom(
      (value: string) => value,
      (value: string) => value.toUpperCase(),
      (value: string) => value.replaceAll(/(.{5})/g, '$1 '),
      (value: string) => value.replaceAll('a', '\\u0061'),
      (value: string) => encodeURIComponent(value),
    );
    fc.assert(
      fc.property(secret, fc.nat(8), spelling, spelling, (value, from, write, echo) => {
        const part = value.slice(from);
        const said = saidOf(`bad value: qq ${echo(part)} qq`, `zz ${write(value)} zz`);
        const shown = (said?.message ?? '').toLowerCase().replaceAll(/[^a-z0-9]/g, '');
        expect(shown).toStartWith('badvalue');
        for (let at = 0; at + 16 <= part.length; at += 1) {
          expect(shown).not.toContain(part.slice(at, at + 16));
        }
      }),
    );
  });

  test('hides a sentence in a script of whole words', () => {
    expect(saidOf('无效: 我的密码是一二三四', '请记住我的密码是一二三四。')?.message).toBe(
      '无效: …',
    );
  });

  test.each([
    [`Incorrect API key provided: ${SECRET}.`, 'Incorrect API key provided: ….'],
    ['Incorrect key: sk-ab*******cdef', 'Incorrect key: …'],
    [`It ends with ${SECRET.slice(-12)}`, 'It ends with …'],
    ['Authorization: Bearer abc.def', 'Authorization: …'],
    ['see https://me:word@host.example/a?sig=1#x', 'see https://host.example/a'],
    [`data ${'QUJD'.repeat(40)} end`, 'data … end'],
    ['<html><title>413 Too Large</title><body>nginx\n</body>', '413 Too Large nginx'],
    ['two\nlines\u0000and \u202emore', 'two lines and more'],
  ])('%s', (message, shown) => {
    expect(saidOf(message)?.message).toBe(shown);
  });

  test("shows the upstream's name of the model, although the prompt has it", () => {
    const message = `The model ${UPSTREAM_MODEL} does not exist`;
    expect(saidOf(message, `You are ${UPSTREAM_MODEL}, a helpful assistant.`)?.message).toBe(
      message,
    );
  });

  test('is short, however long the error is', () => {
    const message = 'a b '.repeat(10_000);
    expect(saidOf(message)?.message?.length).toBeLessThanOrEqual(SAID_LENGTH_MAX);
  });

  test('is only a plain code where the request is too long to be compared', () => {
    const long = saidOf(OWN, ' '.repeat(1_100_000), { code: 'bad_value' });
    expect(long).toEqual({ code: 'bad_value' });
  });
});

describe('errors of many shapes', () => {
  test.each<[string, string]>([
    [
      '{"error":{"message":"No such model","type":"invalid_request_error","param":"model","code":"model_not_found"}}',
      '400 model_not_found (model): No such model',
    ],
    ['{"error":{"message":"no","type":"bad","code":400}}', '400 bad: no'],
    [
      '{"type":"error","error":{"type":"not_found_error","message":"model: x"}}',
      '400 not_found_error: model: x',
    ],
    ['{"error":"does not support tools"}', '400: does not support tools'],
    ['{"code":"invalid-argument","error":"Incorrect API key"}', '400: Incorrect API key'],
    [
      '{"detail":[{"type":"string_type","loc":["body","messages",0],"msg":"Input should be text","input":"secret"}]}',
      '400 string_type (messages.0): Input should be text',
    ],
    ['{"detail":"Not Found"}', '400: Not Found'],
    [
      '[{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"no"}}]',
      '400 INVALID_ARGUMENT: no',
    ],
    [
      '{"object":"error","message":"no","type":"BadRequestError","param":null,"code":400}',
      '400 BadRequestError: no',
    ],
    ['not json', '400: not json'],
    ['', '400'],
  ])('%s', (body, words) => {
    expect(saidWords(statusFailure(400, body, () => false))).toBe(words);
  });
});

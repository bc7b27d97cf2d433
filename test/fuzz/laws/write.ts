// Requests to upstreams: any request under any profile is JSON that the profile's server accepts,
// with every result after its call, every object of arguments unchanged, and no text lost.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { GenerationRequest, ThinkingBlock, Turn } from '../../../src/core/generation.ts';
import { DEFAULT_PROFILE, type UpstreamProfile } from '../../../src/core/profile.ts';
import { parseBody } from '../../../src/wire/body.ts';
import type { UpstreamCall } from '../../../src/wire/format.ts';
import { type JsonMembers as Body, type Json, members } from '../checks/json.ts';
import { checkChat } from '../checks/written-chat.ts';
import { checkMessages } from '../checks/written-messages.ts';
import { checkResponses } from '../checks/written-responses.ts';
import { codecOf, type ProfileChoice, profileChoice, profileOf } from '../inputs/profiles.ts';
import { toBytes } from '../inputs/recordings.ts';
import { FORMATS, type FormatName, type Request, validRequest } from '../inputs/requests.ts';
import { marked, type Tree } from '../inputs/tree.ts';
import { property } from '../property.ts';
import { parseValid } from './parse.ts';

/** The beginning of the turn that asks for the rest of an answer. */
const BRIDGE = 'Continue your last message exactly';
const SIGNATURE = 'signed-by-upstream-1';

const call: fc.Arbitrary<UpstreamCall> = fc.record({
  upstream: fc.constantFrom('up-1', 'up-2'),
  model: fc.constantFrom('m', 'vendor/model "1"'),
  maxOutputTokens: fc.constantFrom(1, 1_024, 4_096, 100_000),
  stream: fc.boolean(),
  reasons: fc.boolean(),
});

const asked = fc.record({
  request: validRequest,
  profile: profileChoice,
  call,
  /** Which of the assistant's turns have their thinking in the store. */
  signed: fc.uniqueArray(fc.nat({ max: 8 }), { maxLength: 3 }),
});

type Asked = {
  readonly request: Request;
  readonly profile: ProfileChoice;
  readonly call: UpstreamCall;
  readonly signed: readonly number[];
};

const BLOCKS: readonly ThinkingBlock[] = [
  { kind: 'thinking', text: 'signed thought', signature: SIGNATURE },
  { kind: 'redacted', data: 'sealed' },
];

function withSigned(request: GenerationRequest, signed: readonly number[]): GenerationRequest {
  const turns = request.turns.map((turn, index): Turn => {
    if (turn.role !== 'assistant' || !signed.includes(index)) return turn;
    return { ...turn, signed: { upstream: 'up-1', blocks: BLOCKS } };
  });
  return { ...request, turns };
}

/** The written body, or undefined where the profile rules the request out. */
function write(request: GenerationRequest, call: UpstreamCall, profile: UpstreamProfile) {
  const dialect = codecOf(profile);
  const written = dialect.request(deepFrozen(request), call);
  if (typeof written !== 'string') {
    assert.equal(written.class, 'unsupported');
    assert.ok(mayRefuse(request, profile), `refused without a reason: ${written.detail}`);
    return undefined;
  }
  assert.equal(dialect.request(structuredClone(request), call), written, 'always the same bytes');
  assert.ok(written.isWellFormed());
  return { text: written, body: members(JSON.parse(written) as Json) };
}

function deepFrozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) deepFrozen(member);
  return Object.freeze(value);
}

/** Images are all that a profile can rule out. */
function mayRefuse(request: GenerationRequest, profile: UpstreamProfile): boolean {
  const images = request.turns
    .flatMap((turn) => (turn.role === 'user' ? turn.parts : []))
    .filter((part) => part.kind === 'image');
  const takesNone = profile.dialect !== 'responses' && profile.contentParts === 'never';
  if (takesNone) return images.length > 0;
  return profile.imageUrls === 'data' && images.some(({ url }) => !url.startsWith('data:'));
}

function checkWritten({ request: given, profile: choice, call, signed }: Asked): void {
  const request = withSigned(parseValid(given), signed);
  const profile = profileOf(choice);
  const written = write(request, call, profile);
  if (written === undefined) return;
  const { text, body } = written;
  for (const [key, member] of Object.entries(body)) assert.notEqual(member, null, `${key} is null`);
  const isInPath = profile.dialect === 'messages' && profile.address === 'vertex';
  assert.equal(body['model'], isInPath ? undefined : call.model);
  assert.equal(body['n'], undefined, 'a constant never asks for more than the request');
  if ('provider' in profile.extraBody) assert.deepEqual(body['provider'], { order: ['a'] });
  const mayShowSigned = profile.dialect === 'messages' && call.upstream === 'up-1';
  if (!mayShowSigned)
    assert.ok(!text.includes(SIGNATURE), 'a signature goes to its upstream alone');
  if (profile.dialect === 'chat') checkChat(body, request, call, profile);
  if (profile.dialect === 'messages') checkMessages(body, text, request, call, profile);
  if (profile.dialect === 'responses') checkResponses(body, request, call, profile);
}

function checkNothingLost({ request: { format, body }, profile: choice, call }: Asked): void {
  const { tree, marks } = marked(body);
  const request = parseValid({ format, body: tree });
  const written = write(request, call, profileOf(choice));
  if (written === undefined) return;
  for (const mark of marks) {
    assert.equal(written.text.split(mark).length - 1, 1, `${mark} is there once`);
  }
}

/** Where a conversation is cut before an answer, the first part is written as it is in the whole. */
function checkPrefix({ request: { format, body }, profile: choice, call, signed }: Asked): void {
  const profile = profileOf(choice);
  const key = format === 'responses' ? 'input' : 'messages';
  const turns = listAt(body, key);
  // The model then gets an instruction to continue, which may change more than the last turn.
  if (parseValid({ format, body }).turns.at(-1)?.role === 'assistant') return;
  for (let length = 1; length < turns.length; length += 1) {
    if (roleOf(turns[length]) !== 'assistant') continue;
    // There, what an assistant calls and says in a row is one turn.
    if (format === 'responses' && roleOf(turns[length - 1]) !== 'user') continue;
    const first = tryParse({ format, body: withList(body, key, turns.slice(0, length)) });
    const answered = tryParse({ format, body: withList(body, key, turns.slice(0, length + 1)) });
    // The client had begun the answer itself, or left its calls open.
    if (first === undefined || first.turns.at(-1)?.role === 'assistant') continue;
    if (!isAnswer(answered?.turns.at(-1))) continue;
    const whole = write(withSigned(parseValid({ format, body }), signed), call, profile);
    const part = write(withSigned(first, signed), call, profile);
    if (whole === undefined || part === undefined) return;
    const messages = unmarked(turnsOf(part.body)) as readonly Json[];
    // An answer before an empty question is written as one that is to be continued, too.
    if (JSON.stringify(messages.at(-1) ?? {}).includes(BRIDGE)) continue;
    if (members(messages.at(-1) ?? {})['role'] === 'assistant') continue;
    const before = JSON.stringify(messages).slice(0, -1);
    const after = JSON.stringify(unmarked(turnsOf(whole.body)));
    assert.ok(after.startsWith(before), 'a prefix stays');
  }
}

function turnsOf(body: Body): Json {
  return body['messages'] ?? body['input'] ?? [];
}

/**
 * Messages, tools or a system prompt without their marks for a cache: they are no part of a prefix.
 */
function unmarked(value: Json): Json {
  if (!Array.isArray(value)) return value;
  return value.map((each: Json) => {
    const { cache_control: _, content, ...rest } = members(each);
    return content === undefined ? rest : { ...rest, content: unmarked(content) };
  });
}

/** An answer without any content is none: some formats leave its message out. */
function isAnswer(turn: Turn | undefined): boolean {
  return turn?.role === 'assistant' && (turn.text.trim() !== '' || turn.toolCalls.length > 0);
}

/** What an upstream is sent is a request of its format: another gateway would send the same. */
function checkReadBack({ request: given, call, signed }: Asked, dialect: FormatName): void {
  const profile = DEFAULT_PROFILE[dialect];
  const { json, turns } = parseValid(given);
  // An instruction is written among the turns, and reads as the beginning of the system prompt. Items
  // of several answers in a row read as those of one, and an empty answer at the end is not written.
  const follows = (turn: Turn, at: number): boolean =>
    turn.role === 'assistant' && (turns[at + 1]?.role ?? turn.role) === turn.role;
  if (dialect === 'responses' && (json || turns.some(follows))) return;
  const first = write(withSigned(parseValid(given), signed), { ...call, upstream: '-' }, profile);
  if (first === undefined) return;
  const read = FORMATS[dialect].parse(parseBody(toBytes(first.text)));
  const second = write(read, call, profile);
  assert.deepEqual(second && meaning(second.body), meaning(first.body));
}

/**
 * Two answers in a row are written as one message, whose texts then read as one. A budget for
 * thinking and marks are not read.
 */
function meaning(body: Body): Body {
  const { system = '', tools = [] } = body;
  const messages = (unmarked(body['messages'] ?? []) as readonly Json[]).map((message) => {
    const { role, content } = members(message);
    if (role !== 'assistant' || !Array.isArray(content)) return message;
    const blocks = content.map(members);
    const texts = blocks.filter((block) => block['type'] === 'text').map((block) => block['text']);
    return {
      role,
      text: texts.join(''),
      others: blocks.filter((block) => block['type'] !== 'text'),
    };
  });
  return {
    ...body,
    messages,
    system: Array.isArray(system)
      ? system.map((block: Json) => members(block)['text'] ?? '').join('\n\n')
      : system,
    tools: unmarked(tools),
    thinking: members(body['thinking'] ?? {})['type'] ?? '',
  };
}

function tryParse(request: Request): GenerationRequest | undefined {
  try {
    return parseValid(request);
  } catch {
    return undefined;
  }
}

function listAt(tree: Tree, key: string): readonly Tree[] {
  const [, value] = ('members' in tree ? tree.members : []).find(([name]) => name === key) ?? [];
  return value !== undefined && 'list' in value ? value.list : [];
}

function withList(tree: Tree, name: string, list: readonly Tree[]): Tree {
  assert.ok('members' in tree);
  return {
    members: tree.members.map(([key, value]) => [key, key === name ? { list } : value] as const),
  };
}

function roleOf(tree: Tree | undefined): string | undefined {
  const [, value] = (tree !== undefined && 'members' in tree ? tree.members : [])[0] ?? [];
  return value !== undefined && 'raw' in value ? (JSON.parse(value.raw) as string) : undefined;
}

export const WRITER_PROPERTIES = [
  property('upstream: any request is written as its profile says', asked, checkWritten),
  property('upstream: a chat request reads as what was written', asked, (input) => {
    checkReadBack(input, 'chat');
  }),
  property('upstream: a Messages request reads as what was written', asked, (input) => {
    checkReadBack(input, 'messages');
  }),
  property('upstream: a Responses request reads as what was written', asked, (input) => {
    checkReadBack(input, 'responses');
  }),
  property('upstream: no text of a request is lost or doubled', asked, checkNothingLost),
  property('upstream: what was written stays when turns are appended', asked, checkPrefix),
];

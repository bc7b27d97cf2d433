// When thinking is stored and restored, with the real store: the capabilities of the model's
// upstreams decide, and the client's own thinking takes precedence.

import { afterAll, describe, expect, test } from 'bun:test';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import type {
  AssistantTurn,
  GenerationEvent,
  GenerationRequest,
  ThinkingBlock,
  ToolCall,
  Turn,
} from '../../src/core/generation.ts';
import { recordThinking, restoreThinking } from '../../src/generate/thinking.ts';
import { createReasoningStore } from '../../src/reasoning/reasoning.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';
import { demoUpstream } from '../support/model.ts';
import { requestWith, user } from '../support/request.ts';

const UPSTREAMS = {
  chat: ['chat', 'chat'],
  openai: ['chat', 'openai'],
  signing: ['messages', 'anthropic'],
  lenient: ['messages', 'deepseek-messages'],
  always: ['messages', 'anthropic-5.5'],
  'always-chat': ['chat', 'moonshot-k3'],
} as const;

const MODELS: Readonly<Record<string, { upstreams: readonly string[]; more?: string }>> = {
  chat: { upstreams: ['chat'] },
  plain: { upstreams: ['chat'], more: 'features = ["tools"]' },
  openai: { upstreams: ['openai'] },
  signing: { upstreams: ['signing'] },
  lenient: { upstreams: ['lenient'] },
  always: { upstreams: ['always'] },
  'always-chat': { upstreams: ['always-chat'] },
  both: { upstreams: ['chat', 'signing'] },
  'plain-then-signing': { upstreams: ['chat'], more: 'features = []\nfallbacks = ["signing"]' },
  demo: { upstreams: ['demo'] },
};

const catalog = loadCatalog({
  text: [
    '[[upstream]]\nid = "demo"\ndialect = "demo"',
    ...Object.entries(UPSTREAMS).map(
      ([id, [dialect, profile]]) =>
        `[[upstream]]\nid = "${id}"\ndialect = "${dialect}"\nprofile = "${profile}"\nbase_url = "http://127.0.0.1:9"`,
    ),
    ...Object.entries(MODELS).map(([slug, { upstreams, more }]) => {
      const served = upstreams.map((id) => `{ upstream = "${id}", model = "m" }`).join(', ');
      const features = more?.includes('features') ? '' : 'features = ["tools", "reasoning"]\n';
      return `[[model]]\nslug = "${slug}"\ncontext_window = 1000\nmax_output = 100\nprice = { input = "1", output = "1" }\nserved_by = [${served}]\n${features}${more ?? ''}`;
    }),
  ].join('\n\n'),
  environment: {},
  nowMs: 0,
});

const database = await newDatabase(temporaryDirectory());
afterAll(() => database.close());

let finds = 0;
const store = await createReasoningStore({
  database,
  clock: () => 1_000,
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  secret: 's'.repeat(32),
  onTrouble: (error) => {
    throw error;
  },
});
const reasoning = {
  ...store,
  find(...asked: Parameters<typeof store.find>) {
    finds += 1;
    return store.find(...asked);
  },
};

const CALL: ToolCall = { id: 'call_0', name: 'read', arguments: '{"path": "a"}' };
const RESULT: Turn = { role: 'tool', toolCallId: 'call_0', text: 'R', isError: false };
const BLOCKS: readonly ThinkingBlock[] = [
  { kind: 'thinking', text: 'Hm.', signature: 'c2ln' },
  { kind: 'redacted', data: 'ZGF0YQ==' },
];

const assistant = (more: Partial<AssistantTurn> = {}): AssistantTurn => {
  return { role: 'assistant', reasoning: '', text: '', toolCalls: [CALL], ...more };
};

function request(turns: readonly Turn[], more: Partial<GenerationRequest> = {}): GenerationRequest {
  const tools = [{ name: 'read', parameters: {} }];
  return requestWith({ model: 'm', turns, tools, stream: true, ...more });
}

const finish = (reason: 'tool_calls' | 'length' | 'stop' = 'tool_calls'): GenerationEvent => {
  return { kind: 'finish', reason };
};
const SIGNED: GenerationEvent = { kind: 'finish', reason: 'tool_calls', thinking: BLOCKS };
const think = (text: string): GenerationEvent => ({ kind: 'reasoning-delta', text });
const called = ({ id, name, arguments: json }: ToolCall, index = 0): GenerationEvent[] => [
  { kind: 'tool-start', index, id, name },
  { kind: 'tool-delta', index, json: json.slice(0, 3) },
  { kind: 'tool-delta', index, json: json.slice(3) },
];

function model(slug: string) {
  const found = catalog.resolve(slug);
  if (found === undefined) throw new Error(slug);
  return found;
}

/** Every test has an account of its own, and so a store that is empty. */
function setUp(slug: string, accountId = crypto.randomUUID()) {
  const facts = { accountId };
  const asked = (of: GenerationRequest) => ({ facts, request: of, catalog, model: model(slug) });
  return {
    async answer(
      of: GenerationRequest,
      events: readonly GenerationEvent[],
      upstream = slug,
      dropped = false,
    ): Promise<void> {
      const recorder = recordThinking({ reasoning }, asked(of));
      for (const event of events) recorder.push(event);
      const served = catalog.upstreams.get(upstream);
      if (served === undefined) throw new Error(upstream);
      const candidate = { upstream: served, upstreamModel: slug };
      await recorder.keep({ candidate, droppedThinking: () => dropped });
    },
    restore: (of: GenerationRequest) => restoreThinking({ reasoning }, asked(of)),
  };
}

const HELLO = [user('Hello?')];
const LOST = [...HELLO, assistant(), RESULT];

describe('put back is', () => {
  test('the text that the client lost', async () => {
    const { answer, restore } = setUp('chat');
    await answer(request(HELLO), [think('H'), think('m.'), ...called(CALL), finish()]);
    const again = request(LOST);
    expect(await restore(again)).toEqual({
      ...again,
      turns: [...HELLO, assistant({ reasoning: 'Hm.' }), RESULT],
    });
  });

  test('the same where the client prints the input again', async () => {
    const { answer, restore } = setUp('chat');
    await answer(request(HELLO), [think('Hm.'), ...called(CALL), finish()]);
    const toolCalls = [{ ...CALL, arguments: '{"path":"a"}' }];
    const { turns } = await restore(request([...HELLO, assistant({ toolCalls }), RESULT]));
    expect(turns[1]).toEqual(assistant({ toolCalls, reasoning: 'Hm.' }));
  });

  test('nothing where the client sent its own text, which may be edited', async () => {
    const { answer, restore } = setUp('chat');
    await answer(request(HELLO), [think('Hm.'), ...called(CALL), finish()]);
    const own = request([...HELLO, assistant({ reasoning: 'Edited.' }), RESULT]);
    finds = 0;
    expect(await restore(own)).toEqual(own);
    expect(finds).toBe(0);
  });

  test('the thinking after the text, which a format does not show', async () => {
    const { answer, restore } = setUp('chat');
    const said = { kind: 'text-delta', text: 'A' } as const;
    await answer(request(HELLO), [think('H'), said, think('m.'), ...called(CALL), finish()]);
    const turn = (reasoning: string) => assistant({ reasoning, text: 'A', lacksLate: true });
    for (const [sent, restored] of [
      ['H', 'Hm.'],
      ['Edited.', 'Edited.'],
    ] as const) {
      const { turns } = await restore(request([...HELLO, turn(sent), RESULT]));
      expect(turns[1]).toEqual(turn(restored));
    }
  });

  test('the signed form beside any text the client has', async () => {
    const { answer, restore } = setUp('signing');
    await answer(request(HELLO), [think('Hm.'), ...called(CALL), SIGNED]);
    const signed = { upstream: 'signing', model: 'signing', blocks: BLOCKS };
    expect((await restore(request(LOST))).turns[1]).toEqual(
      assistant({ reasoning: 'Hm.', signed }),
    );
    const own = [...HELLO, assistant({ reasoning: 'Edited.' }), RESULT];
    expect((await restore(request(own))).turns[1]).toEqual(
      assistant({ reasoning: 'Edited.', signed }),
    );
  });

  test('both forms, by the upstream that served, where several kinds of upstreams may serve', async () => {
    const { answer, restore } = setUp('both');
    await answer(request(HELLO), [think('Hm.'), ...called(CALL), finish()], 'chat');
    const second = { ...CALL, id: 'call_1' };
    const soFar = await restore(request(LOST));
    await answer(soFar, [think('Ah.'), ...called(second), SIGNED], 'signing');
    const { turns } = await restore(request([...LOST, assistant({ toolCalls: [second] })]));
    expect([turns[1], turns[3]]).toEqual([
      assistant({ reasoning: 'Hm.' }),
      assistant({
        reasoning: 'Ah.',
        signed: { upstream: 'signing', model: 'both', blocks: BLOCKS },
        toolCalls: [second],
      }),
    ]);
  });

  test('what only a fallback takes', async () => {
    const { answer, restore } = setUp('plain-then-signing');
    await answer(request(HELLO), [think('Hm.'), ...called(CALL), SIGNED], 'signing');
    expect((await restore(request(LOST))).turns[1]).toMatchObject({
      signed: { upstream: 'signing' },
    });
  });

  test('what was thought before a turn without calls: never', async () => {
    const { answer, restore } = setUp('chat');
    await answer(request(HELLO), [think('Hm.'), { kind: 'text-delta', text: 'A' }, finish('stop')]);
    const turns = [...HELLO, assistant({ text: 'A', toolCalls: [] }), user('And?')];
    finds = 0;
    expect((await restore(request(turns))).turns).toEqual(turns);
    expect(finds).toBe(0);
  });

  test('the newest turns first, up to what a body could have brought', async () => {
    const { answer, restore } = setUp('chat');
    const long = 'x'.repeat(250_000);
    let turns: Turn[] = [...HELLO];
    for (let n = 0; n < 12; n += 1) {
      const toolCalls = [{ ...CALL, id: `call_${n}` }];
      await answer(request(turns), [
        think(long),
        ...toolCalls.flatMap((each) => called(each)),
        finish(),
      ]);
      turns = [...turns, assistant({ toolCalls }), { ...RESULT, toolCallId: `call_${n}` }];
    }
    const lengths = (await restore(request(turns))).turns.flatMap((turn) =>
      turn.role === 'assistant' ? [turn.reasoning.length] : [],
    );
    expect(lengths).toEqual([...Array(3).fill(0), ...Array(9).fill(250_000)]);
  });
});

describe('thinking that the upstream has refused', () => {
  const second = { ...CALL, id: 'call_1' };
  const third = { ...CALL, id: 'call_2' };
  const step = (call: ToolCall): Turn[] => [
    assistant({ toolCalls: [call] }),
    { ...RESULT, toolCallId: call.id },
  ];
  const signedOf = (of: GenerationRequest) =>
    of.turns.flatMap((turn) => (turn.role === 'assistant' ? [turn.signed] : []));

  test('is left out of every later turn, and what came after it is sent', async () => {
    const { answer, restore } = setUp('signing');
    const blocks = { upstream: 'signing', model: 'signing', blocks: BLOCKS };
    await answer(request(HELLO), [...called(CALL), SIGNED]);
    const once = [...HELLO, ...step(CALL)];
    await answer(request(once), [...called(second), SIGNED], 'signing', true);
    const twice = [...once, ...step(second)];
    expect(signedOf(await restore(request(twice)))).toEqual([
      undefined,
      { ...blocks, restarts: true },
    ]);
    await answer(request(twice), [...called(third), SIGNED]);
    expect(signedOf(await restore(request([...twice, ...step(third)])))).toEqual([
      undefined,
      { ...blocks, restarts: true },
      blocks,
    ]);
  });

  test('is left out too if the answer without it does not think', async () => {
    const { answer, restore } = setUp('signing');
    await answer(request(HELLO), [...called(CALL), SIGNED]);
    const once = [...HELLO, ...step(CALL)];
    await answer(request(once), [...called(second), finish()], 'signing', true);
    expect(signedOf(await restore(request([...once, ...step(second)])))).toEqual([
      undefined,
      { upstream: 'signing', model: 'signing', blocks: [], restarts: true },
    ]);
  });
});

describe('kept is', () => {
  const cases: [name: string, slug: string, events: GenerationEvent[], kept: boolean][] = [
    ['thinking before a call', 'chat', [think('Hm.'), ...called(CALL), finish()], true],
    [
      'an answer that ends like a text',
      'chat',
      [think('Hm.'), ...called(CALL), finish('stop')],
      true,
    ],
    [
      'a whole call that the bound ends',
      'chat',
      [think('Hm.'), ...called(CALL), finish('length')],
      true,
    ],
    [
      'half a call that the bound ends',
      'chat',
      [think('Hm.'), ...called({ ...CALL, arguments: '{"path": ' }), finish('length')],
      false,
    ],
    ['no thinking', 'chat', called(CALL).concat(finish()), false],
    ['an answer that breaks', 'chat', [think('Hm.'), ...called(CALL)], false],
    ['an endless thought', 'chat', [think('x'.repeat(262_145)), ...called(CALL), finish()], false],
    ['blocks whose text is hidden', 'signing', [...called(CALL), SIGNED], true],
    [
      'text that the only upstream did not sign',
      'signing',
      [think('H'), ...called(CALL), finish()],
      false,
    ],
    [
      'text of an upstream that checks nothing',
      'lenient',
      [think('H'), ...called(CALL), finish()],
      true,
    ],
    ['an upstream that takes none back', 'openai', [think('H'), ...called(CALL), finish()], false],
    ['a model that cannot reason', 'plain', [think('H'), ...called(CALL), finish()], false],
    ['the demonstration', 'demo', [think('H'), ...called(CALL), finish()], false],
  ];

  test.each(cases)('%s (%s)', async (_name, slug, events, kept) => {
    const accountId = crypto.randomUUID();
    const upstream = slug === 'plain' ? 'chat' : slug;
    await setUp(slug, accountId).answer(request(HELLO), events, upstream);
    const rows = database.connection
      .query('SELECT count(*) AS count FROM reasoning WHERE account_id = ?')
      .get(accountId);
    expect(rows).toEqual({ count: kept ? 1n : 0n });
  });

  test('nothing of a request that turns thinking off, and nothing is put back into one', async () => {
    const { answer, restore } = setUp('chat');
    const off = { reasoning: 'off' } as const;
    const events = [think('Hm.'), ...called(CALL), finish()];
    await answer(request(HELLO, off), events);
    expect((await restore(request(LOST))).turns).toEqual(LOST);
    await answer(request(HELLO), events);
    expect((await restore(request(LOST, off))).turns).toEqual(LOST);
    expect((await restore(request(LOST))).turns).not.toEqual(LOST);
  });

  test('thinking of a model that always thinks, also where the request turns it off', async () => {
    const off = { reasoning: 'off' } as const;
    const turnOf = async (slug: string, events: GenerationEvent[]): Promise<unknown> => {
      const { answer, restore } = setUp(slug);
      await answer(request(HELLO, off), events);
      return (await restore(request(LOST, off))).turns[1];
    };
    expect(await turnOf('always', [...called(CALL), SIGNED])).toMatchObject({
      signed: { upstream: 'always', blocks: BLOCKS },
    });
    expect(await turnOf('always-chat', [think('Hm.'), ...called(CALL), finish()])).toEqual(
      assistant({ reasoning: 'Hm.' }),
    );
  });

  test('nothing where the store is switched off', async () => {
    const asked = {
      facts: { accountId: 'a' },
      request: request(LOST),
      catalog,
      model: model('chat'),
    };
    expect(await restoreThinking({ reasoning: undefined }, asked)).toBe(asked.request);
    const recorder = recordThinking({ reasoning: undefined }, asked);
    recorder.push(think('Hm.'));
    expect(
      await recorder.keep({ candidate: { upstream: demoUpstream('a'), upstreamModel: 'a' } }),
    ).toBeUndefined();
  });
});

describe('one conversation never gets the thoughts of another', () => {
  test('where calls are numbered alike and have the same input', async () => {
    const { answer, restore } = setUp('chat');
    const list: ToolCall = { id: 'functions.list:0', name: 'list', arguments: '{}' };
    const events = (text: string) => [think(text), ...called(list), finish()];
    const ann = { system: 'The user is Ann.' };
    const bob = { system: 'The user is Bob.' };
    await answer(request(HELLO, ann), events('Ann owes me.'));
    await answer(request(HELLO, bob), events('Bob is rich.'));
    const lost = [...HELLO, assistant({ toolCalls: [list] })];
    const restored = async (more: Partial<GenerationRequest>): Promise<unknown> => {
      const turn = (await restore(request(lost, more))).turns[1];
      return turn?.role === 'assistant' ? turn.reasoning : undefined;
    };
    expect([await restored(ann), await restored(bob), await restored({})]).toEqual([
      'Ann owes me.',
      'Bob is rich.',
      '',
    ]);
  });

  test('and an id that is random is found in a history that was shortened', async () => {
    const { answer, restore } = setUp('chat');
    const unique = { ...CALL, id: 'call_00_Xk2Lq8Zp0aVbT3mNwR5yQ1' };
    await answer(request(LOST), [think('Hm.'), ...called(unique), finish()]);
    const toolCalls = [{ ...unique, arguments: '{"path": "a", "trimmed": true}' }];
    const { turns } = await restore(request([user('Summary.'), assistant({ toolCalls })]));
    expect(turns[1]).toEqual(assistant({ toolCalls, reasoning: 'Hm.' }));
  });
});

// `scripts/agents`: runs published coding agents against the executable, one at a time, over
// upstreams of each dialect and of the newest models. Each agent gets one answer and one tool round in every format that it
// speaks, then runs with failures. Prints two tables and exits with an error when a run fails. The
// calling script restricts the network to loopback.
//
//   scripts/agents [--only pi] [--upstream anthropic-5.5] [--update-docs] [--keep]

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { HELLO } from '../../test/support/behaviours.ts';
import type { EveryFormat } from '../../test/support/client.ts';
import { noteAnswer, noteText } from '../../test/support/file-reader.ts';
import { AGENTS, type Agent, versionOf } from './agents.ts';
import { FAILURE_RUNS } from './failure-runs.ts';
import { judgeRound, judgeSuccess, type Thinking } from './judge.ts';
import { table, updateDocs } from './report.ts';
import { openStage, type Seen, type Stage, UPSTREAMS } from './stage.ts';

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    /** The names of upstreams in stage.ts; all, one after the other, where none is given. */
    upstream: { type: 'string', multiple: true, default: [...UPSTREAMS] },
    'update-docs': { type: 'boolean', default: false },
    /** Leaves the homes of the agents, each with seen.json, all that was seen of its run. */
    keep: { type: 'boolean', default: false },
  },
});

const names = AGENTS.map(({ name }) => name);
for (const name of flags.only) {
  if (!names.includes(name)) throw new Error(`no agent is called ${name}; there are ${names}`);
}
if (flags['update-docs'] && flags.only.length > 0) {
  throw new Error('the documents have the table of all agents: --update-docs goes without --only');
}
const wanted = AGENTS.filter(({ name }) => flags.only.length === 0 || flags.only.includes(name));

/** What the table says of the first answer's thinking. */
const WORDS: Readonly<Record<Thinking, string>> = {
  replayed: 'sent back',
  restored: 'lost, put back',
  lost: 'lost',
  dropped: 'sent back, dropped',
};

const NOTE = 'note-1.txt';
const ROUNDS = ['agent', 'version', 'format', 'one answer', 'tool round', 'thinking', 'requests'];
const TROUBLES = ['agent', 'format', 'situation', 'result', 'as expected'];
let failures = 0;

const rounds: string[][][] = [];
const troubles: string[][][] = [];
for (const upstream of flags.upstream) {
  say(`The upstream is ${upstream}.`);
  await using stage = await openStage(upstream, flags.keep);
  rounds.push(await runRounds(stage));
  troubles.push(await runTroubles(stage));
  if (await stage.ledgerAgrees()) continue;
  failures += 1;
  say('FAIL `tollgate doctor` finds the books wrong');
}
const text = [table(ROUNDS, merge(rounds)), table(TROUBLES, merge(troubles))].join('\n').trim();
process.stdout.write(`${text}\n`);
if (flags['update-docs']) await updateDocs(text);
process.exitCode = failures === 0 ? 0 : 1;

async function runRounds(stage: Stage): Promise<string[][]> {
  const rows: string[][] = [];
  for (const agent of wanted) {
    for (const format of Object.keys(agent.formats) as EveryFormat[]) {
      rows.push(await judge(stage, agent, format));
    }
  }
  return rows;
}

async function runTroubles(stage: Stage): Promise<string[][]> {
  const rows: string[][] = [];
  for (const { agent: name, format, happens, comesTo, task, judge: problemsOf } of FAILURE_RUNS) {
    const agent = wanted.find((each) => each.name === name);
    if (agent === undefined) continue;
    const seen = await stage.perform({ agent, format, prompt: () => 'Say hello.', ...task });
    const result = tell(`${name}, ${format}, ${happens}`, seen, problemsOf(seen));
    rows.push([name, format, happens, comesTo, result]);
  }
  return rows;
}

/** The same table of several upstreams as one; a cell in which they differ has what each of them had. */
function merge(tables: readonly (readonly string[][])[]): string[][] {
  const [first = []] = tables;
  return first.map((row, at) =>
    row.map((_, column) => [...new Set(tables.map((rows) => rows[at]?.[column]))].join(' / ')),
  );
}

/** Both runs of an agent in one format, as a row of the table. */
async function judge(stage: Stage, agent: Agent, format: EveryFormat): Promise<string[]> {
  const name = `${agent.name}, ${format}`;
  const prompt = () => 'Say hello.';
  const hello = await stage.perform({ agent, format, model: 'reasoning', prompt });
  const answered = tell(`${name}, one answer`, hello, judgeSuccess(hello, HELLO));

  const word = randomBytes(6).toString('hex');
  const round = await stage.perform({
    agent,
    format,
    model: 'reads-a-note',
    prompt: (directory) => `Read the file ${join(directory, NOTE)} and tell me its word.`,
    files: { [NOTE]: noteText(word) },
  });
  const path = join(round.directory, NOTE);
  const { problems, thinking } = judgeRound(round, path, noteText(word).trim());
  problems.push(...judgeSuccess(round, noteAnswer(word)));
  const read = tell(`${name}, tool round, thinking ${thinking}`, round, problems);
  const requests = `${hello.generations.length}, ${round.generations.length}`;
  return [agent.name, await versionOf(agent), format, answered, read, WORDS[thinking], requests];
}

/** Says on the way how a run went, counts a failure, and gives the table's word for it. */
function tell(name: string, seen: Seen, problems: readonly string[]): string {
  const passed = problems.length === 0;
  if (!passed) failures += 1;
  const { ran, generations, others, directory } = seen;
  const requests = [...others, ...generations].map(
    ({ method, path, status }) => `${method} ${path} ${status ?? 'left'}`,
  );
  say(`${passed ? 'ok  ' : 'FAIL'} ${name}, ${ran.seconds.toFixed(1)} s: ${requests.join(', ')}`);
  for (const problem of new Set(problems)) say(`     ${problem}`);
  if (!passed) say(ran.output.slice(-1_000));
  if (flags.keep) say(`     ${directory}`);
  return passed ? 'yes' : 'NO';
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

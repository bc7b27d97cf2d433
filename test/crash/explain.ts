// Explains one request from all books, to diagnose a broken law.

import { type Books, joinBooks } from './books.ts';
import { readAnswer } from './client.ts';
import { sentWords } from './upstream.ts';

/** Lines of text; none where the subject of a violation is no request. */
export function explainRequest(books: Books, mark: string): string[] {
  const story = joinBooks(books).find((each) => each.mark === mark);
  if (story === undefined) return [];
  const { client, served, hold, record, entries, kill, troubles } = story;
  const zero = client.sentAtMs;
  const at = (time: number | undefined) => (time === undefined ? 'never' : `+${time - zero} ms`);
  const answer = readAnswer(client);
  const lines = [
    `asked     ${JSON.stringify(client.drawn)}`,
    `client    status ${answer.status}, ${answer.words} words, ${client.complete ? 'complete' : 'incomplete'}, ended ${at(client.endedAtMs)}, left ${at(client.left?.atMs)}, received ${JSON.stringify(answer.bills)}`,
    ...served.map(
      (each) =>
        `upstream  ${each.model} ${at(each.atMs)}, ${sentWords(each)} words sent, ${each.ended?.how ?? 'not ended'} ${at(each.ended?.atMs)}, reported ${JSON.stringify(each.reported)}`,
    ),
    hold === undefined
      ? 'hold      none'
      : `hold      ${hold.requestId} ${hold.phase}, ${hold.amount}, ${hold.promptTokens} prompt tokens, ended ${at(hold.endedAtMs)}`,
    `record    ${print(record)}`,
    `entries   ${entries.map(print).join(' ') || 'none'}`,
    kill === undefined
      ? 'kill      none'
      : `kill      ${at(kill.atMs)} at ${kill.trigger}, back ${at(kill.backAtMs)}`,
    `node      ${client.generation}`,
    ...troubles.map(
      ({ name, keepsFrom, fromMs, toMs }) =>
        `trouble   ${name}, kept from its ${keepsFrom} ${at(fromMs)} to ${at(toMs)}`,
    ),
  ];
  return lines;
}

function print(value: unknown): string {
  if (value === undefined) return 'none';
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? String(each) : each));
}

// Reads tool calls from chat-completions deltas. Emits `tool-start` once per call, numbered from 0
// without gaps, and passes arguments on unchanged. Upstreams differ in their use of index, id and
// name, so each piece is matched to its call here.

import type { UpstreamFailure } from '../../../core/failure.ts';
import type { GenerationEvent, JsonObject } from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import { malformed } from '../failure.ts';
import {
  HELD_LENGTH_MAX,
  KNOWN_ARGUMENTS_LENGTH_MAX,
  LEFT_OUT,
  TOOL_CALLS_MAX,
  TOOL_LABEL_LENGTH_MAX,
  TOOL_LABELS_LENGTH_MAX,
} from '../limits.ts';
import { toObject, toText } from '../narrow.ts';
import { SurrogateJoiner } from '../surrogates.ts';
import { type ArgumentEnd, createArgumentEnd } from './argument-end.ts';
import { type ArgumentSource, readArguments } from './arguments.ts';

type Call = {
  /** The upstream's id; empty until it has sent one. */
  id: string;
  name: string;
  /** Whether the upstream gave this call an index. */
  readonly indexed: boolean;
  /** The index in our events; -1 while the call has not started. */
  position: number;
  /** Arguments that arrived before the call could start. */
  held: string;
  /** All arguments so far, if the upstream repeats them with each piece. */
  known: string;
  /** Finds the end of the arguments. */
  readonly argumentEnd: ArgumentEnd;
  readonly pairs: SurrogateJoiner;
};

type Piece = {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly json: string;
};

/** `nameCall` gives a call its id, from the upstream's and the call's index. */
export function createToolReader(
  onEvent: (event: GenerationEvent) => void,
  argumentPieces: ChatProfile['argumentPieces'],
  nameCall: (given: string, position: number) => string,
) {
  const calls: Call[] = [];
  const callsByIndex = new Map<number, Call>();
  let started = 0;
  let heldLength = 0;
  let knownLength = 0;
  let labelsLength = 0;
  let latest: Call | undefined;
  let isFull = false;
  let leftOutLength = 0;

  /** The call that a piece belongs to; undefined if the piece begins a new one. */
  function find(piece: Piece): Call | undefined {
    const { index, id, name } = piece;
    const named = id === '' ? undefined : calls.findLast((call) => call.id === id);
    // Without an index the id decides; without both, the latest call.
    const current = index === undefined ? (named ?? latest) : callsByIndex.get(index);
    if (current === undefined) {
      if (name !== '') return undefined;
      // An index that appears only on the later pieces of a call, or grows with every piece.
      if (id === '') return latest?.indexed === false ? latest : undefined;
      return named;
    }
    if (id !== '' && id === current.id) {
      if (name === current.name || !beginsNext(current, piece)) return current;
      // One id for every call: another name is another call, or repeats an earlier one.
      return calls.find((call) => call.id === id && call.name === name);
    }
    if (id === '' || current.id === '') return beginsNext(current, piece) ? undefined : current;
    if (named !== undefined) return named;
    // Ollama sent index 0 for every call: another id with a name is another call. Another id
    // without a name comes from a server that generates an id per chunk; the first id stays.
    return name === '' ? current : undefined;
  }

  function begin(piece: Piece): Call | undefined {
    if (calls.length === TOOL_CALLS_MAX) return undefined;
    const call = {
      id: '',
      name: '',
      indexed: piece.index !== undefined,
      position: -1,
      held: '',
      known: '',
      argumentEnd: createArgumentEnd(),
      pairs: new SurrogateJoiner(),
    };
    calls.push(call);
    if (piece.index !== undefined) callsByIndex.set(piece.index, call);
    return call;
  }

  function emit({ position }: Call, json: string): void {
    if (json !== '') onEvent({ kind: 'tool-delta', index: position, json });
  }

  function start(call: Call): void {
    call.position = started;
    started += 1;
    const id = nameCall(call.id, call.position);
    onEvent({ kind: 'tool-start', index: call.position, id, name: call.name });
    emit(call, call.pairs.push(call.held));
    heldLength -= call.held.length;
    call.held = '';
  }

  /** Starts every call up to this one, so that our order is the upstream's. */
  function startUpTo(last: Call): void {
    for (const call of calls) {
      if (call.position === -1 && call.name !== '') start(call);
      if (call === last) return;
    }
  }

  /** Only arguments start a call: until then a server may still be sending parts of its name. */
  function add(call: Call, piece: string): void {
    const { json, surplus } = call.argumentEnd.push(piece);
    // An empty object that may still be a placeholder starts its call all the same.
    if (json !== '' || call.argumentEnd.isWhole()) pass(call, json);
    leaveOut(surplus);
  }

  function pass(call: Call, json: string): void {
    if (call.position !== -1) {
      emit(call, call.pairs.push(json));
      return;
    }
    call.held += json;
    heldLength += json.length;
    if (call.name !== '') startUpTo(call);
  }

  /** Extracts the new part of a piece that repeats all arguments so far. */
  function grow(call: Call, json: string): UpstreamFailure | undefined {
    const { known } = call;
    if (known.startsWith(json)) return undefined;
    if (!json.startsWith(known)) return malformed('tool arguments that do not grow');
    knownLength += json.length - known.length;
    if (knownLength > KNOWN_ARGUMENTS_LENGTH_MAX) {
      return malformed(`more than ${KNOWN_ARGUMENTS_LENGTH_MAX} characters of growing arguments`);
    }
    call.known = json;
    add(call, json.slice(known.length));
    return undefined;
  }

  /** Text or another call follows, so an empty object in the latest call was no placeholder. */
  function flush(): void {
    const json = latest?.argumentEnd.rest() ?? '';
    if (json !== '' && latest !== undefined) pass(latest, json);
  }

  /** The upstream's clock and our meter count a text that no client gets. */
  function leaveOut(json: string): void {
    if (json !== '') onEvent({ kind: 'tool-delta', index: LEFT_OUT, json });
  }

  function leaveOutPiece({ name, json }: Piece): void {
    const isLonger = argumentPieces === 'growing' && json.length >= leftOutLength;
    leaveOut(name + (isLonger ? json.slice(leftOutLength) : json));
    leftOutLength = json.length;
  }

  /** Adds a piece's id and name to its call. */
  function label(call: Call, { id, name }: Piece): UpstreamFailure | undefined {
    labelsLength -= call.id.length + call.name.length;
    if (call.id === '') call.id = id;
    if (call.position === -1) call.name = mergeName(call.name, name);
    labelsLength += call.id.length + call.name.length;
    if (Math.max(call.id.length, call.name.length) > TOOL_LABEL_LENGTH_MAX) {
      return malformed(`a tool call's id or name of more than ${TOOL_LABEL_LENGTH_MAX} characters`);
    }
    if (labelsLength <= TOOL_LABELS_LENGTH_MAX) return undefined;
    return malformed(
      `more than ${TOOL_LABELS_LENGTH_MAX} characters of ids and names of tool calls`,
    );
  }

  return {
    flush,
    count: () => started,
    /** The position of the call that the last piece belongs to. */
    latest: () => (latest === undefined ? 0 : calls.indexOf(latest)),
    /** Whether calls were left out. */
    isFull: () => isFull,
    /** Reads one element of a `tool_calls` array. */
    piece(value: unknown, source: ArgumentSource): UpstreamFailure | undefined {
      if (!isObject(value)) return undefined;
      const json = readArguments(toObject(value['function'])['arguments'], source);
      if (json === undefined) return malformed('tool arguments that nest too deep');
      const piece = readPiece(value, json);
      if (isBlank(piece)) return undefined;
      const call = isFull ? undefined : (find(piece) ?? begin(piece));
      if (call === undefined) {
        isFull = true;
        leaveOutPiece(piece);
        return undefined;
      }
      if (call !== latest) flush();
      latest = call;
      const mistake = label(call, piece);
      if (mistake !== undefined) return mistake;
      if (argumentPieces === 'growing') {
        const failure = grow(call, piece.json);
        if (failure !== undefined) return failure;
      } else if (piece.json !== '') add(call, piece.json);
      if (heldLength <= HELD_LENGTH_MAX) return undefined;
      return malformed(`more than ${HELD_LENGTH_MAX} characters for unnamed tool calls`);
    },
    /**
     * Starts what has not started, and gives `{}` to calls without arguments. Not if a limit cut
     * the answer: what is missing then must not look like a complete call.
     */
    end(wasCut: boolean): UpstreamFailure | undefined {
      flush();
      for (const call of calls) {
        if (call.name === '') {
          // A call with nothing but an id is ignored: some servers send one beside plain text.
          if (wasCut || call.argumentEnd.isEmpty()) continue;
          return malformed('a tool call without a name');
        }
        if (call.position === -1) start(call);
        emit(call, call.argumentEnd.isEmpty() && !wasCut ? '{}' : call.pairs.flush());
      }
      return undefined;
    },
  };
}

/**
 * Whether a piece without a distinct id begins another call: it has a name, and arguments that
 * begin as an object, and the current call's arguments are complete.
 */
function beginsNext(current: Call, piece: Piece): boolean {
  if (piece.name === '' || !current.argumentEnd.isWhole()) return false;
  if (current.known !== '' && piece.json.startsWith(current.known)) return false;
  if (piece.json === '') return piece.name !== current.name;
  return piece.json.trimStart().startsWith('{');
}

/** Names arrive whole, repeated with every piece, growing, or in parts. */
function mergeName(known: string, piece: string): string {
  if (piece === '') return known;
  return piece.startsWith(known) ? piece : known + piece;
}

function readPiece(value: JsonObject, json: string): Piece {
  const { id, index } = value;
  return {
    // Some servers send -1 for no index.
    index: typeof index === 'number' && index >= 0 ? index : undefined,
    id: toText(id),
    name: toText(toObject(value['function'])['name']),
    json,
  };
}

/** Older vLLM sends empty pieces with every chunk. */
function isBlank(piece: Piece): boolean {
  return piece.id === '' && piece.name === '' && piece.json === '';
}

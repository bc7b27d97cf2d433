// Reads tool calls that arrive as blocks or items of their own, in Messages and Responses. Emits
// `tool-start` once per call, numbered from 0 without gaps, and passes arguments on unchanged.

import type { UpstreamFailure } from '../../core/failure.ts';
import type { GenerationEvent } from '../../core/generation.ts';
import { malformed } from './failure.ts';
import { HELD_LENGTH_MAX, LEFT_OUT, TOOL_CALLS_MAX } from './limits.ts';

/** A call while its block is open. */
export type OpenCall = {
  /** The index in our events; -1 for a call that never starts, because it has no name. */
  readonly position: number;
  /** The input in the block's start; empty if there is none. */
  input: string;
  hasArguments: boolean;
};

/** `nameCall` gives a call its id, from the upstream's and the call's index. */
export function createToolBlocks(
  onEvent: (event: GenerationEvent) => void,
  nameCall: (given: string, position: number) => string,
) {
  /** Ended calls without arguments. */
  let silent: OpenCall[] = [];
  let count = 0;
  let heldLength = 0;
  let isNameless = false;
  let isFull = false;

  function emit(call: OpenCall, json: string): void {
    onEvent({ kind: 'tool-delta', index: call.position, json });
  }

  /** Another block begins, so ended calls are complete. */
  function next(): void {
    for (const call of silent) emit(call, '{}');
    silent = [];
  }

  return {
    count: () => count,
    /** Whether calls were left out. */
    isFull: () => isFull,
    next,
    /** `input` is JSON text. */
    start(id: string, name: string, input: string): OpenCall | UpstreamFailure {
      if (name === '') {
        isNameless = true;
        return { position: -1, input: '', hasArguments: true };
      }
      if (count === TOOL_CALLS_MAX) {
        isFull = true;
        const leftOut = { position: LEFT_OUT, input: '', hasArguments: true };
        emit(leftOut, name + input);
        return leftOut;
      }
      heldLength += input.length;
      if (heldLength > HELD_LENGTH_MAX) {
        return malformed(`more than ${HELD_LENGTH_MAX} characters of tool inputs`);
      }
      const call = { position: count, input, hasArguments: false };
      count += 1;
      onEvent({ kind: 'tool-start', index: call.position, id: nameCall(id, call.position), name });
      return call;
    },
    piece(call: OpenCall, json: string): void {
      if (call.position === -1 || json === '') return;
      if (json.trim() !== '') call.hasArguments = true;
      emit(call, json);
    },
    stop(call: OpenCall): void {
      heldLength -= call.input.length;
      if (call.hasArguments) return;
      if (call.input === '') silent.push(call);
      else emit(call, call.input);
    },
    /** Ends the answer: complete, or `wasCut` by a limit. */
    end(wasCut: boolean): UpstreamFailure | undefined {
      // What is missing from a truncated answer must not look like a complete call.
      if (wasCut) return undefined;
      if (isNameless) return malformed('a tool call without a name');
      next();
      return undefined;
    },
  };
}

// The size limits of all client formats, for request parsers and the body reader.

export const BODY_BYTES_MAX = 2_097_152;
export const MESSAGES_MAX = 200;
/** Characters are Unicode code points, summed over the text parts of one message. */
export const MESSAGE_TEXT_MAX = 1_000_000;
/** Of a request: more than any vendor takes, and some ms of work. */
export const IMAGES_MAX = 2_000;
export const CALLS_MAX = 4_096;
export const TOOLS_MAX = 128;
export const STOP_MAX = 16;
export const USER_MAX = 256;
export const TOOL_NAME_MAX = 128;

/** The number of code points in `text`: a surrogate pair counts once. */
function countCharacters(text: string): number {
  let count = text.length;
  for (let index = 0; index + 1 < text.length; index += 1) {
    if (!isBetween(text.charCodeAt(index), 0xd800, 0xdbff)) continue;
    if (isBetween(text.charCodeAt(index + 1), 0xdc00, 0xdfff)) count -= 1;
  }
  return count;
}

/** Whether the texts together exceed `max` characters. Counts only if their length allows it. */
export function exceedsCharacters(texts: readonly string[], max: number): boolean {
  let units = 0;
  for (const text of texts) units += text.length;
  if (units <= max) return false;
  return texts.reduce((sum, text) => sum + countCharacters(text), 0) > max;
}

function isBetween(code: number, low: number, high: number): boolean {
  return code >= low && code <= high;
}

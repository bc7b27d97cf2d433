// Finds new passwords that are long enough but among the first that an attacker tries: a short text
// that is repeated, or common words and runs of characters with little else.

/** From published lists of leaked passwords; the words that long passwords are built from. */
const COMMON_WORDS =
  /passw[o0]r[dt]|p[a@]ssw[o0]rd|qwertyuiop|qwertzuiop|azertyuiop|qwerty|qwertz|azerty|asdfghjkl|asdfgh|zxcvbnm|yxcvbnm|1q2w3e4r5t|1q2w3e4r|1qaz2wsx|letmein|welcome|willkommen|iloveyou|administrator|admin|changeme|default|secret|football|baseball|princess|sunshine|superman|trustno1|monkey|dragon|master|login|hello|tollgate/g;

/** What has to remain beside common words and runs. */
const OTHER_CHARACTERS_MIN = 5;

export function isGuessable(password: string): boolean {
  const text = password.toLowerCase();
  return (
    isRepeated(text) || withoutRuns(text.replace(COMMON_WORDS, '')).length < OTHER_CHARACTERS_MIN
  );
}

/** Whether it is a text of less than half its length, repeated: `abcabcabcab`. */
function isRepeated(text: string): boolean {
  for (let period = 1; period <= text.length / 2; period += 1) {
    if (text.startsWith(text.slice(period))) return true;
  }
  return false;
}

/** Without runs of three and more characters such as `aaa`, `1234` and `cba`. */
function withoutRuns(text: string): string {
  let kept = '';
  let run = '';
  let step: number | undefined;
  for (const character of text) {
    const last = run.at(-1);
    const next = last === undefined ? undefined : character.charCodeAt(0) - last.charCodeAt(0);
    const continues =
      next !== undefined && Math.abs(next) <= 1 && (step === undefined || next === step);
    if (continues) {
      run += character;
      step = next;
    } else {
      kept += run.length < 3 ? run : '';
      run = character;
      step = undefined;
    }
  }
  return kept + (run.length < 3 ? run : '');
}

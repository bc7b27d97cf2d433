// The words that comments, strings and pages avoid, because engineers of the field use others: name
// the actor (the client, the operator, the node) and use the verb of the field. Used by the tests of
// the source and of the documents.

const WORDS = [
  ...[
    'nobody',
    'whoever',
    'somebody',
    'everybody',
    'anybody',
    'whatever',
    'who asks',
    'what comes',
  ],
  ...['anew', 'meanwhile', 'under way', 'in force', 'by way of'],
  ...['told', 'tells', 'bury', 'buried', 'held for dead'],
];

export const AVOIDED_WORDS = new RegExp(`\\b(${WORDS.join('|').replaceAll(' ', '\\s+')})\\b`, 'i');

const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//.source;
const TEXT = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/.source;
const TEMPLATE = /`(?:\\[\s\S]|\$\{(?:[^{}]|\{[^{}]*\})*\}|[^`\\])*`/.source;
const PATTERN =
  /(?<=(?:[(,=:[!&|?{};+\n]|=>|\breturn)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//.source;
const TOKEN = new RegExp(`${COMMENT}|${TEXT}|${TEMPLATE}|(${PATTERN})`, 'g');

/** The comments, strings and page text of TypeScript. The code is blank; lines stay where they are. */
export function proseOf(source: string): string {
  let prose = '';
  let end = 0;
  for (const { 0: token, 1: pattern, index } of source.matchAll(TOKEN)) {
    prose += pageText(source.slice(end, index));
    prose += pattern === undefined ? token.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, blank) : ' ';
    end = index + token.length;
  }
  return prose + pageText(source.slice(end));
}

/** Code with all but the text of its elements blank. */
function pageText(code: string): string {
  return code.replace(/(?<=>)[^<>{}=;()]+(?=[<{])|[\s\S]/g, (part) =>
    part.length > 1 ? part : blank(part),
  );
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

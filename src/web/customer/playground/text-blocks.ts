// Splits an answer into plain text and fenced code blocks. Pure, and linear in the length of the text,
// because the text comes from a model.

export type TextBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string; readonly language: string };

/** A fence, its language, and the code until a fence that is as long, or until the end. */
const CODE = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))([^`\n]*)\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$|(?!.))/gms;

export function textBlocks(text: string): readonly TextBlock[] {
  const blocks: TextBlock[] = [];
  let end = 0;
  const addText = (until: number): void => {
    const between = text.slice(end, until).replace(/^\n+/, '').trimEnd();
    if (between !== '') blocks.push({ kind: 'text', text: between });
  };
  for (const match of text.matchAll(CODE)) {
    const [all, , language = '', code = ''] = match;
    addText(match.index);
    blocks.push({ kind: 'code', text: code.replace(/\n$/, ''), language: language.trim() });
    end = match.index + all.length;
  }
  addText(text.length);
  return blocks;
}

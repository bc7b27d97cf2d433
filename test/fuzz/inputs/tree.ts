// JSON as a tree that is written as text: what is known of it can be extended or marked, and what
// is text stays text.

import fc from 'fast-check';

/** JSON to be: text that is not looked into, or an object or array whose members are known. */
export type Tree =
  | { readonly raw: string }
  /** A text that the model has to see. */
  | { readonly text: string }
  | { readonly list: readonly Tree[] }
  | { readonly members: readonly (readonly [key: string, value: Tree])[] };

export type Member = readonly [key: string, raw: string];

/** The text of a tree. `extras` go into every object that is known, in turn. */
export function render(tree: Tree, extras: readonly Member[] = []): string {
  let next = 0;
  const write = (tree: Tree): string => {
    if ('raw' in tree) return tree.raw;
    if ('text' in tree) return JSON.stringify(tree.text);
    if ('list' in tree) return `[${tree.list.map(write).join(',')}]`;
    const members = tree.members.map(([key, value]) => `${JSON.stringify(key)}:${write(value)}`);
    const extra = extras[next % extras.length];
    next += 1;
    if (extra !== undefined) {
      members.splice(next % (members.length + 1), 0, `${JSON.stringify(extra[0])}:${extra[1]}`);
    }
    return `{${members.join(',')}}`;
  };
  return write(tree);
}

/** The same tree with a mark of its own on every text, and the marks. */
export function marked(tree: Tree): { readonly tree: Tree; readonly marks: readonly string[] } {
  const marks: string[] = [];
  const mark = (tree: Tree): Tree => {
    if ('raw' in tree) return tree;
    if ('list' in tree) return { list: tree.list.map(mark) };
    if ('members' in tree) {
      return { members: tree.members.map(([key, value]) => [key, mark(value)] as const) };
    }
    marks.push(`mark-${marks.length}-`);
    return { text: tree.text + marks.at(-1) };
  };
  return { tree: mark(tree), marks };
}

export const raw = (text: string): Tree => ({ raw: text });
export const quoted = (text: string): Tree => ({ raw: JSON.stringify(text) });
export const object = (...members: readonly (readonly [key: string, value: Tree])[]): Tree => ({
  members,
});

/** Some members of an object. */
export type Members = fc.Arbitrary<(readonly [key: string, value: Tree])[]>;

/** A member that is there, null, or not there. */
export function optional(key: string, value: fc.Arbitrary<Tree>): Members {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant([] as [string, Tree][]) },
    { weight: 2, arbitrary: value.map((tree): [string, Tree][] => [[key, tree]]) },
    { weight: 1, arbitrary: fc.constant([[key, raw('null')]] as [string, Tree][]) },
  );
}

export function all(...groups: readonly Members[]): Members {
  return fc.tuple(...groups).map((members) => members.flat());
}

export function list(
  items: fc.Arbitrary<Tree>,
  constraints: fc.ArrayConstraints = {},
): fc.Arbitrary<Tree> {
  return fc.array(items, { maxLength: 3, ...constraints }).map((trees) => ({ list: trees }));
}

// What the answers of routes are made of: JSON schemas whose static types are the records of pages.
// A named schema (`$id`) becomes a component of the description. Answers may gain members, so nothing
// here forbids others; the tests do.

import {
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from '@sinclair/typebox';

export const oneOf = <const Word extends string>(...words: readonly Word[]): TUnsafe<Word> =>
  Type.Unsafe({ type: 'string', enum: [...words] });

export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const named = <P extends TProperties>($id: string, members: P): TObject<P> =>
  Type.Object(members, { $id });

export const many = <S extends TSchema>(items: S): TUnsafe<readonly Static<S>[]> =>
  Type.Unsafe(Type.Array(items));

/** A page of a list. */
export const list = <S extends TSchema>($id: string, row: S) =>
  named($id, {
    object: Type.Literal('list'),
    data: many(row),
    next: nullable(
      Type.String({ description: 'The `after` value of the next page; null at the end.' }),
    ),
  });

/** A response without a body. */
export const nothing = Type.Void();

export const text = Type.String();
export const count = Type.Integer({ minimum: 0 });
/** A decimal that a float would round. */
export const decimal = Type.String({
  $id: 'Decimal',
  pattern: '^-?\\d+(\\.\\d+)?$',
  description: 'An exact decimal number.',
});
export const instant = Type.String({ format: 'date-time' });

// An image of a message.

export type Picture = {
  readonly name: string;
  /** The media type. */
  readonly type: string;
  /** Base64; empty if the image was not kept over a reload. */
  readonly data: string;
};

export const PICTURE_TYPES: readonly string[] = [
  ...['image/png', 'image/jpeg', 'image/webp', 'image/gif'],
];

/** Of one message. */
export const PICTURES_MAX = 4;

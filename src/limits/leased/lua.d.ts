// Scripts for Redis are imported as text, so that the executable carries them.
declare module '*.lua' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a text import has nothing but a default.
  export default text;
}

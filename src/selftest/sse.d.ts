// Recordings are imported as text, so that the executable contains them.
declare module '*.sse' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a text import has nothing but a default.
  export default text;
}

declare module '*.expected' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a text import has nothing but a default.
  export default text;
}

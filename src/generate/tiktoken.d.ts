// Vocabulary files, imported as the path of a file that the executable carries.
declare module '*.tiktoken' {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: a file import has nothing but a default.
  export default path;
}

// The options that match what is typed into a combobox.

type Labelled = { readonly label: string };

/** Every typed word must be part of the label; labels that begin with the text come first. */
export function matchesOf<Option extends Labelled>(
  options: readonly Option[],
  typed: string,
): readonly Option[] {
  const text = typed.trim().toLocaleLowerCase();
  if (text === '') return options;
  const words = text.split(/\s+/);
  const found = options.filter(({ label }) => {
    const lower = label.toLocaleLowerCase();
    return words.every((word) => lower.includes(word));
  });
  const begins = ({ label }: Labelled) => (label.toLocaleLowerCase().startsWith(text) ? 0 : 1);
  return found.toSorted((one, other) => begins(one) - begins(other));
}

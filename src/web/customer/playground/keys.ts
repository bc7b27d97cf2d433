// What Enter does in the editors of the playground.

/** Enter sends and Shift+Enter starts a line. An input method ends a word with Enter, too. */
export function sendsOnEnter(send: () => void) {
  return (event: KeyboardEvent): void => {
    // Safari ends the composition before this event, and then says it by the old code.
    if (event.key !== 'Enter' || event.isComposing || event.keyCode === 229) return;
    if (event.shiftKey || event.altKey) return;
    event.preventDefault();
    send();
  };
}

/** React or React Router has changed the HTML that the server edits. The server doesn't start, since every page would fail. */
export class ChangedHtmlError extends Error {}

/** What the server sends, as JSON. */
export type Message = { id: string; time: string; text: string };

export const SOCKET_PATH = `${import.meta.env.BASENAME}/chat/socket`;
export const MAX_LENGTH = 500;
/** How many messages the server keeps for those who come later. */
export const MAX_MESSAGES = 50;

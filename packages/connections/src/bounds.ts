/** Bytes of requests that wait to be sent, and of answers that wait to be passed on, and what is looked through of answers. */
export interface ByteBounds {
  readonly requestBytes: number;
  readonly heldBytesPerAgent: number;
  readonly heldBytesPerAccount: number;
  /** Of all. The last quarter is for accounts that hold no more than one request may have. */
  readonly heldBytes: number;
  /** Of one agent, over time; an account has three times as many. */
  readonly answerBytesPerSecond: number;
}

export interface CallBounds extends ByteBounds {
  /** Of one connection of an agent, requests of HTTP and calls of tools together. */
  readonly callsPerMinute: number;
  readonly connectMs: number;
  readonly responseBytes: number;
  /** An answer is passed on whole, or in pieces of so many bytes where it is longer. */
  readonly pieceBytes: number;
  /** From the request to the head of its answer, redirects included. */
  readonly headMs: number;
  /** Between two pieces of an answer, and until the guest takes one. */
  readonly idleMs: number;
  readonly totalMs: number;
  readonly redirects: number;
}

const mib = 2 ** 20;

export const defaultCallBounds: CallBounds = {
  callsPerMinute: 120,
  connectMs: 10_000,
  requestBytes: 8 * mib,
  heldBytesPerAgent: 16 * mib,
  heldBytesPerAccount: 48 * mib,
  heldBytes: 128 * mib,
  answerBytesPerSecond: 2 * mib,
  responseBytes: 32 * mib,
  pieceBytes: mib,
  headMs: 60_000,
  idleMs: 60_000,
  totalMs: 300_000,
  redirects: 3,
};

export interface McpBounds {
  /** Of one answer of the server, whatever is in it. */
  readonly answerBytes: number;
  readonly depth: number;
  readonly elements: number;
  /** Arguments of a call, as JSON. */
  readonly argumentBytes: number;
  readonly tools: number;
  readonly pages: number;
  readonly descriptionChars: number;
  readonly schemaBytes: number;
  /** Names, descriptions and schemas of all tools of one connection, as JSON. */
  readonly toolsBytes: number;
  readonly blocks: number;
  readonly listMs: number;
  /** A turn waits for a list for so long; one that comes later is there for the next turn. */
  readonly turnWaitMs: number;
  readonly callMs: number;
  /** A list of tools is asked for again behind so long, and forgotten behind `staleMs`. */
  readonly freshMs: number;
  readonly staleMs: number;
  /** A server that failed is left alone for so long. */
  readonly retryMs: number;
  /** A session that nobody used for so long is ended. */
  readonly idleMs: number;
  /** Sessions of all agents. */
  readonly sessions: number;
  /** Messages that are posted to a server, in a second; what it asks of us is answered by them, too. */
  readonly postsPerSecond: number;
}

export const defaultMcpBounds: McpBounds = {
  answerBytes: 2 * mib,
  depth: 64,
  elements: 20_000,
  argumentBytes: mib,
  tools: 128,
  pages: 10,
  descriptionChars: 2_000,
  schemaBytes: 16 * 1024,
  toolsBytes: 256 * 1024,
  blocks: 64,
  listMs: 10_000,
  turnWaitMs: 3_000,
  callMs: 120_000,
  freshMs: 60_000,
  staleMs: 600_000,
  retryMs: 15_000,
  idleMs: 600_000,
  sessions: 1_000,
  postsPerSecond: 8,
};

/** Of what authorization servers say, which whoever chose a connection's URL chose too. */
export interface OAuthBounds {
  /** Of one document or answer. */
  readonly answerBytes: number;
  readonly depth: number;
  readonly elements: number;
  readonly requestMs: number;
  /** Of one discovery, registration included. */
  readonly requests: number;
  readonly beginMs: number;
  readonly exchangeMs: number;
  readonly renewMs: number;
  /** Longer than a renewal with its write: whoever dies meanwhile keeps others waiting for so long. */
  readonly claimMs: number;
  /** For a renewal that somebody else does. */
  readonly waitMs: number;
  /** Behind a renewal that failed. */
  readonly retryMs: number;
  /** A server that refuses a token younger than this gets no other one. */
  readonly leastAgeMs: number;
}

export const defaultOAuthBounds: OAuthBounds = {
  answerBytes: 64 * 1024,
  depth: 16,
  elements: 2_000,
  requestMs: 10_000,
  requests: 12,
  beginMs: 30_000,
  exchangeMs: 20_000,
  renewMs: 15_000,
  claimMs: 45_000,
  waitMs: 20_000,
  retryMs: 15_000,
  leastAgeMs: 30_000,
};

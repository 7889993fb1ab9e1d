/**
 * Bounds on bytes: of requests that wait to be sent, of answers that wait to be passed on, and of answers that are searched.
 */
export interface ByteBounds {
  readonly requestBytes: number;
  readonly heldBytesPerAgent: number;
  readonly heldBytesPerAccount: number;
  /** Bytes of all agents. The last quarter is for accounts that hold no more than one request may have. */
  readonly heldBytes: number;
  /** Rate of one agent over time; an account has three times as much. */
  readonly answerBytesPerSecond: number;
}

export interface CallBounds extends ByteBounds {
  /** Calls of one connection of an agent, HTTP requests and tool calls together. */
  readonly callsPerMinute: number;
  readonly connectMs: number;
  readonly responseBytes: number;
  /** Size of the pieces in which a longer answer is passed on. A shorter one is passed on whole. */
  readonly pieceBytes: number;
  /** Time from the request to the head of its answer, redirects included. */
  readonly headMs: number;
  /** Time between two pieces of an answer, and until the guest takes one. */
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
  /** Size of one answer of the server, whatever is in it. */
  readonly answerBytes: number;
  readonly depth: number;
  readonly elements: number;
  /** Arguments of a call as JSON. */
  readonly argumentBytes: number;
  readonly tools: number;
  readonly pages: number;
  readonly descriptionChars: number;
  readonly schemaBytes: number;
  /** Names, descriptions and schemas of all tools of one connection as JSON. */
  readonly toolsBytes: number;
  readonly blocks: number;
  readonly listMs: number;
  /** Time that a turn waits for a list. A later list is there for the next turn. */
  readonly turnWaitMs: number;
  readonly callMs: number;
  /** Age after which a list of tools is requested again; `staleMs` is the age after which it is dropped. */
  readonly freshMs: number;
  readonly staleMs: number;
  /** Time for which a failed server is left alone. */
  readonly retryMs: number;
  /** Time without use after which a session ends. */
  readonly idleMs: number;
  /** Most sessions of all agents. */
  readonly sessions: number;
  /** Messages posted to a server in a second. Answers to the server's own requests count, too. */
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

/** Bounds on answers of authorization servers. Whoever chose a connection's URL chose these servers, too. */
export interface OAuthBounds {
  /** Size of one document or answer. */
  readonly answerBytes: number;
  readonly depth: number;
  readonly elements: number;
  readonly requestMs: number;
  /** Requests of one discovery, registration included. */
  readonly requests: number;
  readonly beginMs: number;
  readonly exchangeMs: number;
  readonly renewMs: number;
  /** Longer than a renewal with its write. A process that dies meanwhile keeps others waiting this long. */
  readonly claimMs: number;
  /** Time to wait for a renewal by another process. */
  readonly waitMs: number;
  /** Wait after a failed renewal. */
  readonly retryMs: number;
  /** Age below which a refused token is not replaced. */
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

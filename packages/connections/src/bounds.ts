const mib = 2 ** 20;

export const defaultCallBounds = {
  /** Calls of one connection of an agent, HTTP requests and tool calls together. */
  callsPerMinute: 120,
  connectMs: 10_000,
  requestBytes: 8 * mib,
  heldBytesPerAgent: 16 * mib,
  heldBytesPerAccount: 48 * mib,
  /** Bytes of all agents. The last quarter is for accounts that hold no more than one request may have. */
  heldBytes: 128 * mib,
  /** Rate of one agent over time; an account has three times as much. */
  answerBytesPerSecond: 2 * mib,
  responseBytes: 32 * mib,
  /** Size of the pieces in which a longer answer is passed on. A shorter one is passed on whole. */
  pieceBytes: mib,
  /** Time from the request to the head of its answer, redirects included. */
  headMs: 60_000,
  /** Time between two pieces of an answer, and until the guest takes one. */
  idleMs: 60_000,
  totalMs: 300_000,
  redirects: 3,
};

export type CallBounds = Readonly<typeof defaultCallBounds>;

/** Bounds on calls of host connections, beside those of all calls. Bodies pass as they come, so they may be longer. */
export const defaultHostBounds = {
  callsPerMinute: 600,
  requestBytes: 32 * mib,
  responseBytes: 512 * mib,
  /** A request in which git pushes. */
  pushBytes: 512 * mib,
  /** Time from the request to the head of its answer; the request's body is sent meanwhile. */
  headMs: 600_000,
  totalMs: 900_000,
  /** Time in which a machine has to end its handshake. */
  handshakeMs: 10_000,
};

export type HostBounds = Readonly<typeof defaultHostBounds>;

export const defaultMcpBounds = {
  /** Size of one answer of the server, whatever is in it. */
  answerBytes: 2 * mib,
  depth: 64,
  elements: 20_000,
  /** Arguments of a call as JSON. */
  argumentBytes: mib,
  tools: 128,
  pages: 10,
  descriptionChars: 2_000,
  schemaBytes: 16 * 1024,
  /** Names, descriptions and schemas of all tools of one connection as JSON. */
  toolsBytes: 256 * 1024,
  blocks: 64,
  listMs: 10_000,
  /** Time that a turn waits for a list. A later list is there for the next turn. */
  turnWaitMs: 3_000,
  callMs: 120_000,
  /** Age after which a list of tools is requested again; `staleMs` is the age after which it is dropped. */
  freshMs: 60_000,
  staleMs: 600_000,
  /** Time for which a failed server is left alone. */
  retryMs: 15_000,
  /** Time without use after which a session ends. */
  idleMs: 600_000,
  /** Most sessions of all agents. */
  sessions: 1_000,
  /** Messages posted to a server in a second. Answers to the server's own requests count, too. */
  postsPerSecond: 8,
};

export type McpBounds = Readonly<typeof defaultMcpBounds>;

/** Bounds on answers of authorization servers. Whoever chose a connection's URL chose these servers, too. */
export const defaultOAuthBounds = {
  /** Size of one document or answer. */
  answerBytes: 64 * 1024,
  depth: 16,
  elements: 2_000,
  requestMs: 10_000,
  /** Requests of one discovery, registration included. */
  requests: 12,
  beginMs: 30_000,
  exchangeMs: 20_000,
  renewMs: 15_000,
  /** Longer than a renewal with its write. A process that dies meanwhile keeps others waiting this long. */
  claimMs: 45_000,
  /** Time to wait for a renewal by another process. */
  waitMs: 20_000,
  /** Wait after a failed renewal. */
  retryMs: 15_000,
  /** Age below which a refused token is not replaced. */
  leastAgeMs: 30_000,
};

export type OAuthBounds = Readonly<typeof defaultOAuthBounds>;

/**
 * Bounds on bytes: of requests that wait to be sent, of answers that wait to be passed on, and of answers that are searched.
 */
export type ByteBounds = Pick<
  CallBounds,
  'requestBytes' | 'heldBytesPerAgent' | 'heldBytesPerAccount' | 'heldBytes' | 'answerBytesPerSecond'
>;

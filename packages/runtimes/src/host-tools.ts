/** The tools that the host offers every agent: a server of the Model Context Protocol at the broker's address. */

/** The server's name in the runtimes, which stands before the name of each of its tools. */
export const hostTools = 'lodge';
export const hostToolsPath = '/mcp';
/** Bound on a tool call, longer than the longest takes: a question to another agent ends after four minutes. */
export const hostToolTimeoutMs = 250_000;

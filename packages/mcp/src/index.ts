export { lodgeServer, tools } from './server.ts';
export type { LodgeServerOptions } from './server.ts';
export { serveStdio } from './stdio.ts';
export type { StdioOptions } from './stdio.ts';
export type { Scope, Tool } from './tool.ts';

/** What builds images, for those who build other machines beside them: the cache of this host and the tools that fill it. */
export { Cache } from './cache.ts';
export { run, type RunContext } from './run.ts';

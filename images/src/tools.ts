/** Parts of the image builder for builders of other machines: the cache of this host and the tools that fill it. */
export { Cache } from './cache.ts';
export { run, type RunContext } from './run.ts';

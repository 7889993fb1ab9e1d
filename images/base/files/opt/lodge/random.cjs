'use strict';
/**
 * Loaded by Node before anything else on each of its threads (NODE_OPTIONS): no clone of a process that runs with it makes the same
 * random values as another one. The addon (images/src/random.c) takes OpenSSL's generators away, which needs nothing further. Node
 * itself keeps random values on each thread: the state of Math.random, and made ahead of time 128 UUIDs and the bytes of randomInt.
 * Each call of these looks at the generation in the page that the addon shares, and where it is another one renews all three and
 * draws again.
 */
const addon = { exports: {} };
try {
  process.dlopen(addon, `${__dirname}/kernel-random.so`);
} catch {
  // A program that runs without addons (--permission) keeps Node's own generators.
}
if (addon.exports instanceof ArrayBuffer) {
  followGeneration(new Int32Array(addon.exports, 0, 1));
  preloadInEachWorker();
}

function followGeneration(page) {
  const crypto = require('node:crypto');
  const { randomUUID, randomInt, randomFillSync } = crypto;
  const { load } = Atomics;
  /** Node makes so many at a time (lib/internal/crypto/random.js). */
  const uuidsAhead = 128;
  const integersAhead = 1024;
  const largestRange = 2 ** 48 - 1;
  const state = new Int32Array(4);
  let seen = load(page, 0);
  let drawn = false;

  function renew() {
    // First: a generation that comes meanwhile is seen by whoever draws next.
    seen = load(page, 0);
    randomFillSync(state);
    // Who has never drawn one has none made ahead.
    if (!drawn) return;
    for (let left = uuidsAhead; left > 0; left -= 1) randomUUID();
    for (let left = integersAhead; left > 0; left -= 1) randomInt(largestRange);
  }

  /** Looks after the draw: the process may have been frozen in the midst of it. */
  function ofThisGeneration(draw, ...values) {
    drawn = true;
    for (;;) {
      const value = draw(...values);
      if (load(page, 0) === seen) return value;
      renew();
    }
  }

  randomFillSync(state);
  const random = () => {
    for (;;) {
      // 53 bits, as many as a number between 0 and 1 has.
      const value = ((sfc32(state) >>> 5) * 0x4000000 + (sfc32(state) >>> 6)) / 0x20000000000000;
      if (load(page, 0) === seen) return value;
      renew();
    }
  };
  Math.random = random;
  crypto.randomUUID = function (options) {
    return ofThisGeneration(randomUUID, options);
  };
  crypto.randomInt = function (min, max, callback) {
    if (callback === undefined && typeof max !== 'function') return ofThisGeneration(randomInt, min, max);
    if (load(page, 0) !== seen) renew();
    drawn = true;
    return randomInt(min, max, callback);
  };
  // What the agent installs may be an older Node.
  const web = crypto.webcrypto && Object.getPrototypeOf(crypto.webcrypto);
  const webUUID = web?.randomUUID;
  if (webUUID) {
    web.randomUUID = function () {
      return ofThisGeneration(webUUID.bind(this));
    };
  }
  require('node:module').syncBuiltinESMExports();
}

/** A worker that is given an environment of its own, as OpenClaw does with an empty one, would have no NODE_OPTIONS. */
function preloadInEachWorker() {
  const threads = require('node:worker_threads');
  const preload = `--require ${__filename}`;
  threads.Worker = class Worker extends threads.Worker {
    constructor(file, options) {
      const env = options?.env;
      if (typeof env !== 'object' || env === null || String(env.NODE_OPTIONS).includes(__filename))
        super(file, options);
      else
        super(file, {
          ...options,
          env: { ...env, NODE_OPTIONS: [preload, env.NODE_OPTIONS].filter(Boolean).join(' ') },
        });
    }
  };
  require('node:module').syncBuiltinESMExports();
}

/** The generator of this name by Chris Doty-Humphrey: 32 bits a call, at the speed of V8's own. */
function sfc32(state) {
  const b = state[1];
  const c = state[2];
  const d = state[3];
  const sum = (state[0] + b + d) | 0;
  state[0] = b ^ (b >>> 9);
  state[1] = c + (c << 3);
  state[2] = ((c << 21) | (c >>> 11)) + sum;
  state[3] = d + 1;
  return sum;
}

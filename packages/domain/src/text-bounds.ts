/**
 * Bounds on JSON from a guest, by its source. All of it is parsed on the main thread. Within these bounds the costliest text
 * takes some 5 ms (many objects of different keys, or one long text of escapes). `docs/reference/bounds.md` shows them.
 */
import type { JsonBounds } from './basics/json-budget.ts';

const kib = 1024;
const mib = 1024 * kib;

export const textBounds = {
  /** A reply or an error of the guest daemon, and the end of a command or a terminal. */
  guestReply: { bytes: 64 * kib, depth: 4, elements: 256 },
  /** A page of a folder of the workspace. */
  fileList: { bytes: mib, depth: 4, elements: 8_200 },
  /** One line that a runtime's logger wrote. */
  logLine: { bytes: 128 * kib, depth: 16, elements: 1_000 },
  /** The answer whether a gateway serves. */
  gatewayHealth: { bytes: 64 * kib, depth: 8, elements: 256 },
  /** A gateway's reply to the host's own calls. */
  gatewayReply: { bytes: mib, depth: 32, elements: 10_000 },
  /** A turn that a gateway refused. */
  turnError: { bytes: 64 * kib, depth: 16, elements: 1_000 },
  /** One event of a turn's answer, in characters. */
  turnEvent: { bytes: mib, depth: 64, elements: 10_000 },
  /** The answer of a turn that does not stream. */
  turnAnswer: { bytes: mib, depth: 64, elements: 10_000 },
  /** The runtime's configuration file in the guest. */
  runtimeConfig: { bytes: mib, depth: 64, elements: 10_000 },
} as const satisfies Readonly<Record<string, JsonBounds>>;

/** Returns the bounds of a reply with texts of `textBytes` bytes. JSON may spend six bytes on one of them. */
export const textReplyBounds = (textBytes: number): JsonBounds => ({
  ...textBounds.guestReply,
  bytes: textBounds.guestReply.bytes + 6 * textBytes,
});

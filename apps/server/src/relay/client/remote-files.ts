import type { RelayFiles } from '@lodge/ports';
import type { Calls } from './calls.ts';

/** Bytes of one call: far fewer than a message may hold. */
const maxPieceBytes = 2 ** 18;

/** Files of channels at the other end of a channel, transferred in pieces. */
export function remoteFiles(calls: Calls): RelayFiles {
  return {
    async *read(key) {
      const transfer = await calls.call('openRead', { key });
      let isOver = false;
      try {
        for (;;) {
          const piece = await calls.call('read', { transfer });
          isOver = piece === null;
          if (piece === null) return;
          yield Buffer.from(piece, 'base64');
        }
      } finally {
        if (!isOver) await calls.call('closeRead', { transfer }).catch(() => undefined);
      }
    },
    remove: (key) => calls.call('removeFile', { key }),
    async write({ agentId }, bytes, maxBytes, signal) {
      const transfer = await calls.call('openWrite', { agentId, maxBytes });
      try {
        for await (const chunk of bytes) {
          for (let from = 0; from < chunk.byteLength; from += maxPieceBytes) {
            signal.throwIfAborted();
            const piece = Buffer.from(chunk.subarray(from, from + maxPieceBytes)).toString('base64');
            await calls.call('write', { transfer, piece });
          }
        }
        signal.throwIfAborted();
        return await calls.call('endWrite', { transfer });
      } catch (error) {
        await calls.call('dropWrite', { transfer }).catch(() => undefined);
        throw error;
      }
    },
  };
}

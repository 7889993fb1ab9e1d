import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { Upload } from '../http/upload.ts';
import type { Lodge } from '../lodge.ts';
import type { ImportOptions } from '../resources/agents.ts';
import type { ExportAgent, ImportedAgent } from '../types.ts';
import type { TransferOptions } from './options.ts';

/**
 * Exports an agent, or a snapshot of it, into a local file that its owner alone may read. It is there whole or not at all, and
 * takes the place of one that is there.
 */
export async function exportAgent(
  lodge: Lodge,
  agentId: string,
  local: string,
  body: ExportAgent = {},
  { onProgress, ...options }: TransferOptions = {},
): Promise<{ readonly size: number }> {
  const content = await lodge.agents.exportFile(agentId, body, options);
  const part = join(dirname(local), `.lodge-${crypto.randomUUID()}.part`);
  let size = 0;
  try {
    const file = await open(part, 'wx', 0o600).catch((error: unknown) => {
      content.cancel();
      throw error;
    });
    try {
      for await (const chunk of content) {
        await file.write(chunk);
        size += chunk.length;
        onProgress?.(size, undefined);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, local);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return { size };
}

/** Makes an agent of the file of an export. After a cut the file is sent again as a whole, and one agent is made. */
export async function importAgent(
  lodge: Lodge,
  local: string,
  { onProgress, ...options }: ImportOptions = {},
): Promise<ImportedAgent> {
  const { size } = await stat(local);
  const source = (): ReadableStream<Uint8Array> => Readable.toWeb(createReadStream(local));
  return lodge.agents.importFile(new Upload(source, { onProgress, size }), options);
}

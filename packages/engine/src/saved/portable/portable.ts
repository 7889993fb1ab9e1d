/** Agents as files, and agents made of them. */
import type { ChangeNote } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import type { Bytes } from './bytes.ts';
import type { PortableDeps } from './deps.ts';
import { exportAgent } from './export.ts';
import type { ExportOptions } from './export.ts';
import { Receiving } from './import.ts';
import type { Received, ReceiveOptions } from './import.ts';

export type Portable = ReturnType<typeof createPortable>;

export function createPortable(deps: PortableDeps) {
  const receiving = new Receiving(deps);
  return {
    /** Reads the agent while it is quiet, or a snapshot of it, and returns it as one file. */
    export: (accountId: string, agentId: string, options: ExportOptions) =>
      exportAgent(deps, accountId, agentId, options),
    /** Refuses with `request_too_large`. */
    checkLength: (bytes: number): void => receiving.checkLength(bytes),
    /** Reads, checks and keeps the file of an import. */
    receive: (accountId: string, body: Bytes, options: ReceiveOptions): Promise<Received> =>
      receiving.receive(accountId, body, options),
    /** Makes the agent of a received import, which it takes over; else drop it. */
    create: (
      accountId: string,
      received: Received,
      options: { readonly id: string; readonly note?: ChangeNote },
    ): Promise<AgentRow> => receiving.create(accountId, received, options),
    /** Removes a received import that no agent was made of. */
    drop: ({ file }: Received): Promise<void> => deps.parts.files.drop(file),
  };
}

import { FileContent } from '../http/content.ts';
import type { Pages } from '../http/page.ts';
import { agentPath, pathOf } from '../http/url.ts';
import type { CallOptions, WithQuery } from '../options.ts';
import type {
  Agent,
  CreateSnapshot,
  DeletedSnapshot,
  RestoreAgent,
  Snapshot,
  SnapshotDiff,
  SnapshotFileList,
  SnapshotList,
  UpdateSnapshot,
} from '../types.ts';
import { Resource, split } from './resource.ts';
import type { QueryOf } from './resource.ts';

/** The service waits 60 s for a machine, unless its operator says otherwise. */
const waitMs = 150_000;

export interface ListSnapshotFiles extends Pick<QueryOf<'getSnapshotFile'>, 'limit' | 'cursor'> {
  /** The folder, in the workspace; the workspace itself by default. */
  readonly path?: string | undefined;
}

/** Machines of agents as they were. */
export class Snapshots extends Resource {
  /** Saves an agent. The reply comes once that is done, or after a minute as it is then; `wait: false` does not wait. */
  create(
    agentId: string,
    body: CreateSnapshot = {},
    options?: WithQuery<QueryOf<'createSnapshot'>>,
  ): Promise<Snapshot> {
    return this.postJson(agentPath(agentId, 'snapshots'), body, options, { slowMs: waitMs });
  }

  /** Those of an agent, newest first. */
  agent(agentId: string, query?: QueryOf<'listAgentSnapshots'>, options?: CallOptions): Pages<SnapshotList> {
    return this.pagesOf(agentPath(agentId, 'snapshots'), options, query);
  }

  /** Those of all agents, newest first. */
  list(query?: QueryOf<'listSnapshots'>, options?: CallOptions): Pages<SnapshotList> {
    return this.pagesOf(pathOf('snapshots'), options, query);
  }

  /** Takes an agent back to a snapshot, or to `before_last_turn`. The present is saved first. */
  restore(agentId: string, body: RestoreAgent, options?: WithQuery<QueryOf<'restoreAgent'>>): Promise<Agent> {
    return this.postJson(agentPath(agentId, 'restore'), body, options, { slowMs: waitMs });
  }

  get(snapshot: string, options?: CallOptions): Promise<Snapshot> {
    return this.getJson(pathOf('snapshots', snapshot), options);
  }

  /** The entries of a folder of its workspace, by name. */
  files(
    snapshot: string,
    { path = '', ...query }: ListSnapshotFiles = {},
    options?: CallOptions,
  ): Pages<SnapshotFileList> {
    return this.pagesOf(filePath(snapshot, path), options, { list: '1', ...query });
  }

  /**
   * Opens a file of its workspace. Take its contents by one of the methods of what this resolves to. The first file of a
   * snapshot takes as long as a start of its machine.
   */
  read(snapshot: string, path: string, options: CallOptions = {}): Promise<FileContent> {
    const { call, rest } = split(options);
    return FileContent.open(this.http, { method: 'GET', path: filePath(snapshot, path), query: rest }, call, 0);
  }

  /** The differences of its workspace to another snapshot's, or, with `now` and by default, to its agent's. */
  diff(snapshot: string, query?: QueryOf<'diffSnapshot'>, options?: CallOptions): Promise<SnapshotDiff> {
    return this.getJson(pathOf('snapshots', snapshot, 'diff'), options, query);
  }

  update(snapshot: string, body: UpdateSnapshot, options?: CallOptions): Promise<Snapshot> {
    return this.sendJson('PATCH', pathOf('snapshots', snapshot), options, { body });
  }

  delete(snapshot: string, options?: CallOptions): Promise<DeletedSnapshot> {
    return this.sendJson('DELETE', pathOf('snapshots', snapshot), options);
  }
}

const filePath = (snapshot: string, path: string): string =>
  pathOf('snapshots', snapshot, 'files', ...path.split('/').filter((name) => name !== ''));

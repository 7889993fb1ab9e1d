/**
 * Saved machines: `<dataDir>/saved/<id>/`, each whole by itself.
 *
 *   manifest     what it is, with the sums of the rest (`manifest.ts`)
 *   disk-*.qcow2 the layers of its disk (`../layers.ts`), hard links where others have them too
 *   pages        the guest's own pages, one after another (`../snapshot/pages.ts`)
 *   memory       the file beneath the pages, which machines map, with `memory.sums` (`whole.ts`); absent where the pages lie
 *                over the template's memory or nothing
 *   devices      device state, as QEMU wrote it
 *   listing      the listing of a folder of its guest
 *   data         its guest's data folders, as a tar archive; only of an agent that is upgraded
 *
 * A folder appears whole, by rename from `<id>.new`, is only read from then on, and goes by rename to `<id>.gone`. A kill
 * anywhere leaves one of the three, and the two others are removed.
 */
import { chmod, chown, link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere, wasThere } from '@lodge/domain';
import { maxListingBytes, restedAgent, restOf, VmError } from '@lodge/ports';
import { entries, exists, syncFile } from '../../host/files.ts';
import { Holds } from '../holds.ts';
import { isDiskFile, linkLayers } from '../layers.ts';
import { assertLayers, LayerSums, unreadLayers } from './layer-sums.ts';
import type { SavedPages } from '../snapshot/page-job.ts';
import { damagedSaved, dataName, fileNames, isSavedId, removeStrays, unlessStrays } from './manifest.ts';
import { manifestName, readManifest, sha256, wholeName, wholeSumsName, writeManifest } from './manifest.ts';
import type { LoadableMemory, MemoryFacts, SavedManifest } from './manifest.ts';
import { inMemoryThread } from './memory-jobs.ts';
import { loadMemory, pagesName, settled, wordsOf } from './saved-memory.ts';
import { linkWhole, makeWhole, wholeDigest } from './whole.ts';

/** Layers up to this size are read before each use; of larger ones size and time are compared, and a check reads them. */
const readLayersUpTo = 256 * 2 ** 20;
/** The pages that a whole file does not have. */
const restName = 'pages.rest';
const packedSuffix = '.zst';
const draftSuffix = '.new';
const goneSuffix = '.gone';

/** The files of a saved machine that is being written. */
export interface SavedDraft {
  readonly folder: string;
  readonly devicesPath: string;
  readonly pagesPath: string;
  readonly dataPath: string;
  readonly listingPath: string;
  readonly clearListing: () => Promise<void>;
}

/** The facts of a draft that becomes a saved machine, with its layers and its memory. */
export interface SavedContents extends Pick<
  SavedManifest,
  'id' | 'agentId' | 'executionId' | 'templateId' | 'machine' | 'facts'
> {
  readonly layers: readonly string[];
  /** `folder`: the folder of the file beneath the pages, where there is one. */
  readonly memory: { readonly pages: SavedPages; readonly about: MemoryFacts; readonly folder: string } | null;
  /** Whether an earlier release wrote the layers (`SavedLayer.sum`). */
  readonly isFormer?: true;
  readonly isHasty?: true;
}

/** The facts of a saved machine for which nothing of it has to be read. */
export type SavedFacts = Pick<SavedManifest, 'executionId' | 'templateId'> & { readonly browser: string | null };

/** A saved machine whose layers and devices are as they were saved. Its pages are checked as they are read. */
export interface LoadableSaved {
  readonly manifest: SavedManifest;
  readonly layers: readonly string[];
  /** Null when it has no memory. */
  readonly memory: LoadableMemory | null;
}

export class SavedStore {
  readonly root: string;
  private readonly held = new Holds();
  private readonly layerSums = new LayerSums();
  /** By id, under the time and inode of its manifest: the page index of a manifest is long, and hosts are looked at often. */
  private readonly known = new Map<string, { readonly key: string; readonly facts: SavedFacts }>();

  constructor(dataDir: string) {
    this.root = join(dataDir, 'saved');
  }

  /** Removes what a kill left. Nothing is in progress. */
  async sweep(): Promise<void> {
    for (const name of await entries(this.root)) {
      // A change of the memory's form was cut short, or the former files were in use.
      if (isSavedId(name)) await removeStrays(this.path(name));
      else await rm(join(this.root, name), { recursive: true, force: true });
    }
  }

  path(id: string): string {
    if (!isSavedId(id)) throw new VmError('failed', `not the id of a saved machine: ${id}`);
    return join(this.root, id);
  }

  async ids(): Promise<string[]> {
    return (await entries(this.root)).filter(isSavedId);
  }

  exists(id: string): Promise<boolean> {
    return exists(this.path(id));
  }

  /** Keeps a saved machine from being collected until the returned function is called. */
  hold(id: string): () => void {
    return this.held.hold(id);
  }

  /** Makes an empty folder for a draft. QEMU, running as `uid`, may write the device state and nothing else there. */
  async draft(id: string, uid: number | null): Promise<SavedDraft> {
    const folder = `${this.path(id)}${draftSuffix}`;
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const draft = {
      folder,
      devicesPath: join(folder, 'devices'),
      pagesPath: join(folder, pagesName),
      dataPath: join(folder, dataName),
      listingPath: join(folder, 'listing'),
      clearListing: () => rm(join(folder, 'listing'), { force: true }),
    };
    if (uid === null) return draft;
    await (await open(draft.devicesPath, 'wx', 0o600)).close();
    await chown(draft.devicesPath, uid, uid);
    await chown(folder, 0, uid);
    await chmod(folder, 0o710);
    return draft;
  }

  async discard(draft: SavedDraft): Promise<void> {
    await rm(draft.folder, { recursive: true, force: true });
  }

  /** Makes a draft a saved machine. Its layers are files that nobody writes any more. */
  async commit(draft: SavedDraft, contents: SavedContents): Promise<SavedManifest> {
    const { layers, memory, isFormer, isHasty = false, ...about } = contents;
    await chmod(draft.folder, 0o700);
    await chown(draft.folder, 0, 0);
    await linkLayers(layers, draft.folder);
    if (memory?.about.base === 'whole') await linkWhole(memory.folder, draft.folder);
    const savedMemory = memory && { ...memory.about, ...(await settled(draft, memory.pages, memory.about, isHasty)) };
    const listing = await ifThere(readFile(draft.listingPath));
    if (listing) await syncFile(draft.listingPath);
    const data = await ifThere(stat(draft.dataPath));
    const manifest: SavedManifest = {
      version: 1,
      ...about,
      savedAt: Date.now(),
      layers: isFormer ? await unreadLayers(layers) : await this.layerSums.of(layers),
      memory: savedMemory,
      listing: listing && sha256(listing),
      ...(data && { data: data.size }),
    };
    await writeManifest(draft.folder, manifest);
    await this.put(draft.folder, about.id);
    return manifest;
  }

  /** Makes `to` the same, but for data folders, and with its memory if that is wanted. An existing `to` is a success. */
  async copy(from: string, to: string, { memory: isWanted } = { memory: true }): Promise<void> {
    if (await this.exists(to)) return;
    const release = this.hold(from);
    try {
      const manifest = await this.manifest(from);
      if (!manifest) throw missing(from);
      const draft = await this.draft(to, null);
      try {
        const memory = isWanted ? manifest.memory : null;
        const { data: _data, ...rest } = manifest;
        const copied = { ...rest, id: to, memory };
        for (const name of fileNames(copied)) await link(join(this.path(from), name), join(draft.folder, name));
        await writeManifest(draft.folder, copied);
        await this.put(draft.folder, to);
      } catch (error) {
        await this.discard(draft);
        throw error;
      }
    } finally {
      release();
    }
  }

  /** Rejects with `saved_damaged`. */
  async manifest(id: string): Promise<SavedManifest | null> {
    const folder = this.path(id);
    const manifest = await readManifest(folder);
    if (manifest === null && (await exists(folder))) throw damagedSaved('it has no manifest');
    return manifest;
  }

  /** Rejects with `saved_missing`, or with `saved_damaged` when a part is not as it was saved. */
  async load(id: string, wanted: { readonly memory: boolean }): Promise<LoadableSaved> {
    const manifest = await this.manifest(id);
    if (!manifest) throw missing(id);
    const folder = this.path(id);
    await assertLayers(folder, manifest.layers, readLayersUpTo);
    const layers = manifest.layers.map(({ name }) => join(folder, name));
    const memory = wanted.memory && manifest.memory ? await loadMemory(folder, manifest, manifest.memory) : null;
    return { manifest, layers, memory };
  }

  /** Reads all of it. Returns why it is damaged, or null. */
  async check(id: string, signal: AbortSignal): Promise<string | null> {
    const release = this.hold(id);
    try {
      const manifest = await this.manifest(id);
      if (!manifest) throw missing(id);
      const folder = this.path(id);
      await assertLayers(folder, manifest.layers, Infinity);
      if (manifest.memory) {
        const { pagesPath: path, pages } = await loadMemory(folder, manifest, manifest.memory);
        await inMemoryThread({ do: 'check-pages', path, pages }, signal);
      }
      await this.listing(id);
      return null;
    } catch (error) {
      if (error instanceof VmError && error.code === 'saved_damaged') return error.message;
      throw error;
    } finally {
      release();
    }
  }

  async listing(id: string): Promise<string | null> {
    const manifest = await this.manifest(id);
    if (!manifest) throw missing(id);
    if (manifest.listing === null) return null;
    const path = join(this.path(id), 'listing');
    const size = (await ifThere(stat(path)))?.size ?? Infinity;
    const bytes = size > maxListingBytes + 4096 ? null : await readFile(path);
    if (bytes === null || sha256(bytes) !== manifest.listing) throw damagedSaved('its listing');
    return bytes.toString('utf8');
  }

  /** Returns null when there is none. One whose manifest is damaged has nothing to say but that it is there. */
  async facts(id: string): Promise<SavedFacts | null> {
    const found = await ifThere(stat(join(this.path(id), manifestName), { bigint: true }));
    if (!found) return null;
    const key = `${found.ino}:${found.mtimeNs}`;
    const known = this.known.get(id);
    if (known?.key === key) return known.facts;
    const manifest = await this.manifest(id).catch(() => null);
    const { executionId = '', templateId = '', memory = null } = manifest ?? {};
    const facts = { executionId, templateId, browser: memory?.browser ?? null };
    this.known.set(id, { key, facts });
    return facts;
  }

  /** The agent's machine at rest; null when there is none. */
  rest(agentId: string): Promise<SavedFacts | null> {
    return this.facts(restOf(agentId));
  }

  /** Agents that have a machine at rest. */
  async restedAgents(): Promise<string[]> {
    return (await this.ids()).flatMap((id) => restedAgent(id) ?? []);
  }

  /** Where the data folders are that a machine at rest has kept. Rejects with `saved_missing` when it has none. */
  async dataPath(agentId: string): Promise<string> {
    const id = restOf(agentId);
    const manifest = await this.manifest(id);
    if (manifest?.data === undefined) throw missing(id);
    const path = join(this.path(id), dataName);
    if ((await ifThere(stat(path)))?.size !== manifest.data) throw damagedSaved('its data');
    return path;
  }

  /** Bytes that its layers and its other files occupy, whoever else has them. */
  async filesBytes(id: string): Promise<{ readonly disk: number; readonly beside: number }> {
    const bytes = { disk: 0, beside: 0 };
    for (const name of await entries(this.path(id))) {
      const blocks = (await ifThere(stat(join(this.path(id), name))))?.blocks ?? 0;
      bytes[isDiskFile(name) ? 'disk' : 'beside'] += blocks * 512;
    }
    return bytes;
  }

  /** Bytes that the file beneath its pages occupies. */
  async wholeBytes({ id, memory }: SavedManifest): Promise<number> {
    if (memory?.base !== 'whole') return 0;
    return ((await ifThere(stat(join(this.path(id), wholeName))))?.blocks ?? 0) * 512;
  }

  /** Bytes that its layers occupy. */
  async layerBytes({ id, layers }: SavedManifest): Promise<number> {
    const found = await Promise.all(layers.map(({ name }) => ifThere(stat(join(this.path(id), name)))));
    return found.reduce((sum, layer) => sum + (layer?.blocks ?? 0) * 512, 0);
  }

  /** Bytes that its files occupy, each divided by the number of folders that have it. */
  async heldBytes(id: string): Promise<number> {
    const folder = this.path(id);
    const found = await Promise.all((await entries(folder)).map((name) => ifThere(stat(join(folder, name)))));
    return Math.round(found.reduce((sum, file) => sum + (file === null ? 0 : (file.blocks * 512) / file.nlink), 0));
  }

  /**
   * Gives its memory the whole form, in which machines that are started from it share what they do not write. `base` is the
   * memory of its template. A machine without memory, or in that form, stays as it is.
   */
  async makeWhole(
    id: string,
    { base, readOnly }: { base: string; readOnly: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const release = this.hold(id);
    try {
      const manifest = await this.manifest(id);
      if (!manifest) throw missing(id);
      const { memory } = manifest;
      if (memory === null || memory.base === 'whole') return;
      const folder = this.path(id);
      const { pagesPath, pages } = await loadMemory(folder, manifest, memory);
      const made = [wholeName, wholeSumsName, restName];
      for (const name of made) await rm(join(folder, name), { force: true });
      const beneath = memory.base === 'template' ? base : null;
      const request = { folder, readOnly, base: beneath, pagesPath, pages, restPath: join(folder, restName) };
      await unlessStrays(folder, made, async () => {
        const rest = await makeWhole(request, signal);
        const whole = await wholeDigest(folder);
        const known = { ...memory, base: 'whole', whole, pages: wordsOf(restName, rest) } as const;
        await writeManifest(folder, { ...manifest, memory: known });
      });
      // A start that is under way may still read the pages as they were; they go with the machine then.
      if (this.held.count(id) === 1) await rm(pagesPath, { force: true });
    } finally {
      release();
    }
  }

  /**
   * Packs its pages, and returns whether there is anything that was not packed. A machine that is in use is left for another
   * time.
   */
  async pack(id: string, signal: AbortSignal): Promise<boolean> {
    const manifest = this.held.has(id) ? null : await this.manifest(id);
    if (!manifest?.memory || manifest.memory.pages.packed !== undefined) return false;
    const release = this.hold(id);
    try {
      const folder = this.path(id);
      const { memory } = manifest;
      const { pagesPath: path, pages } = await loadMemory(folder, manifest, memory);
      const file = `${memory.pages.file}${packedSuffix}`;
      const packedPath = join(folder, file);
      await unlessStrays(folder, [file], async () => {
        const packed = await inMemoryThread<Uint32Array>({ do: 'pack', path, pages, packedPath }, signal);
        await writeManifest(folder, { ...manifest, memory: { ...memory, pages: wordsOf(file, { ...pages, packed }) } });
      });
      if (this.held.count(id) === 1) await rm(path, { force: true });
      return true;
    } finally {
      release();
    }
  }

  async drop(id: string): Promise<void> {
    const gone = `${this.path(id)}${goneSuffix}`;
    await rm(gone, { recursive: true, force: true });
    this.known.delete(id);
    if (await wasThere(rename(this.path(id), gone))) await syncFile(this.root);
    await rm(gone, { recursive: true, force: true });
  }

  async collect(keep: ReadonlySet<string>, savedBefore: Date): Promise<readonly string[]> {
    const gone: string[] = [];
    for (const id of await this.ids()) {
      if (keep.has(id) || this.held.has(id) || restedAgent(id) !== null) continue;
      const found = await ifThere(stat(this.path(id)));
      if (!found || found.ctimeMs >= savedBefore.getTime()) continue;
      await this.drop(id);
      gone.push(id);
    }
    return gone;
  }

  private async put(folder: string, id: string): Promise<void> {
    await syncFile(folder);
    await rename(folder, this.path(id));
    await syncFile(this.root);
  }
}

function missing(id: string): VmError {
  return new VmError('saved_missing', `there is no saved machine ${id}`);
}

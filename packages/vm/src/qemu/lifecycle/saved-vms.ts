/** Saved machines as the port shows them: what this host can do with each. */
import { VmError } from '@lodge/ports';
import type { SavedMachine } from '@lodge/ports';
import { foreign } from '../machine/saved-on.ts';
import type { SavedMemory } from '../saved/machine/manifest.ts';
import type { SavedStore } from '../saved/machine/saved-store.ts';
import { toVmError } from '../../waiting.ts';
import type { Templates } from './templates.ts';
import { sizesOf } from './vm-save.ts';

export interface SavedVmsParts {
  readonly store: SavedStore;
  readonly templates: Templates;
}

export class SavedVms {
  private readonly parts: SavedVmsParts;

  constructor(parts: SavedVmsParts) {
    this.parts = parts;
  }

  async find(id: string): Promise<SavedMachine | null> {
    const { store, templates } = this.parts;
    const manifest = await store.manifest(id);
    if (!manifest) return null;
    const { agentId, executionId, templateId, machine, memory, facts, savedAt } = manifest;
    const sizes = { ...(await sizesOf(store, manifest)), heldBytes: await store.heldBytes(id) };
    const loads = memory !== null && (await this.takes(templates, templateId, memory)) ? 'memory' : 'disk';
    const kept = { machine, memory: memory !== null, loads, facts, ...sizes, savedAt: new Date(savedAt) } as const;
    return { id, agentId, executionId, templateId, ...kept };
  }

  async share(id: string, signal: AbortSignal): Promise<void> {
    const { store, templates } = this.parts;
    const manifest = await store.manifest(id);
    if (!manifest) throw new VmError('saved_missing', `there is no saved machine ${id}`);
    const release = templates.hold(manifest.templateId);
    try {
      const template = await templates.startable(manifest.templateId, 'clone');
      const { mapsReadOnly: readOnly } = await templates.emulator(template);
      await store.makeWhole(id, { base: template.files.memory, readOnly }, signal);
    } catch (error) {
      throw toVmError(error, signal);
    } finally {
      release();
    }
  }

  /** Whether this host can load that memory. */
  private async takes(templates: Templates, templateId: string, memory: SavedMemory): Promise<boolean> {
    const here = await templates.stateOf(templateId, memory.browser !== undefined).catch(() => null);
    return here !== null && here.stateKey === memory.stateKey && foreign(memory.savedOn, here.savedOn) === null;
  }
}

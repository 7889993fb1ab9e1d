/** Templates without a guest, for tests: real files, real qcow2 disks. */
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Image } from '@lodge/ports';
import { repoint } from './backing.ts';
import { writeOverlay } from './disks.ts';
import { factsOf } from './template-checks.ts';
import type { Manifest, StoredTemplate } from './template-shelf.ts';
import { templateHash } from './template-store.ts';
import type { TemplateStore } from './template-store.ts';

export const uid = 2_000_000_000;
export const hash = templateHash(['image', 'variant']);
export const gib = 2 ** 30;

/** An image in `folder`, as a builder leaves one. */
export async function writeImage(folder: string) {
  await mkdir(folder, { recursive: true });
  const image = {
    id: 'image',
    kernel: join(folder, 'k'),
    initrd: join(folder, 'i'),
    rootDisk: join(folder, 'r.qcow2'),
  };
  // A finished image is never written to.
  if ((await readdir(folder)).length > 0) return image;
  for (const path of [image.kernel, image.initrd]) await writeFile(path, path);
  // The backing file does not exist, because no test reads its data.
  await writeOverlay({ path: image.rootDisk, backing: '/nowhere', bytes: gib });
  await chmod(image.rootDisk, 0o644);
  return image;
}

export async function writeTemplate(
  store: TemplateStore,
  {
    token = 'secret',
    readOnlyMapping = false,
    pace,
  }: { token?: string; readOnlyMapping?: boolean; pace?: number } = {},
): Promise<StoredTemplate> {
  const image = await writeImage(join(dirname(store.root), 'images', 'image'));
  const draft = await store.draft(hash, uid);
  const { memory, disk, devices } = draft.files;
  for (const path of [memory, devices]) await writeFile(path, path);
  await writeOverlay({ path: disk, backing: image.rootDisk, bytes: gib });
  const made = { image, facts: { token }, madeWith: 'QEMU 7.2 (tcg)', diskBytes: 10 * gib, ...(pace && { pace }) };
  return store.commit(draft, made, readOnlyMapping);
}

/**
 * Turns a template of the store into an old one that does not stand alone: a disk over the image's, and no file of the
 * image.
 */
export async function makeOld(store: TemplateStore, id: string, image: Image): Promise<void> {
  const { files: _, ...rest } = (await store.manifest(id)) as Manifest;
  const made = ['memory', 'disk', 'devices'] as const;
  await repoint(store.file(id, 'disk'), image.rootDisk);
  const facts = await factsOf(made.map((name) => store.file(id, name)));
  const sums = Object.fromEntries(made.map((name, index) => [name, facts[index]!.sum]));
  const { kernel, initrd, rootDisk } = image;
  const manifest = { ...rest, version: 2, kernel, initrd, rootDisk, sums };
  await writeFile(join(store.root, id, 'manifest.json'), JSON.stringify(manifest));
  for (const name of ['kernel', 'initrd', 'rootDisk'] as const) await rm(store.file(id, name));
}

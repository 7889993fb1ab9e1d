// Writes a project whose only package is Lodge's own Node, as package-lock.json has it, into the folder that is its argument.
// Runs on the host's Node, before any package is there.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [, , folder] = process.argv;
const name = `node-linux-${process.arch}`;
const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const { optional: _, ...entry } = lock.packages[`node_modules/${name}`];
const project = { name: 'node-alone', dependencies: { [name]: entry.version } };
const packages = { '': project, [`node_modules/${name}`]: entry };
const write = (file, value) => writeFileSync(join(folder, file), JSON.stringify(value));
write('package.json', project);
write('package-lock.json', { name: project.name, lockfileVersion: lock.lockfileVersion, requires: true, packages });

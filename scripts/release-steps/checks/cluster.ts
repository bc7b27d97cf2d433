// The compose file of a cluster: judged by the reference implementation of its specification, and its
// HAProxy settings by HAProxy.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runTool } from '../tool.ts';
import { type Check, inFolder, missing, type Release } from './kind.ts';

const COMPOSE = 'github.com/compose-spec/compose-go/v2';
const COMPOSE_VERSION = 'v2.6.0';

export const checkCluster: readonly Check[] = [
  { name: 'the compose file is valid', run: checkCompose },
  { name: 'HAProxy accepts its settings', run: checkHaproxy },
];

/** Loads the file as Docker Compose does, and prints the names of its services. */
const LOADER = `package main

import (
	"context"
	"fmt"
	"os"

	"${COMPOSE}/cli"
)

func main() {
	options, err := cli.NewProjectOptions([]string{os.Args[1]}, cli.WithEnv(os.Args[2:]), cli.WithInterpolation(true))
	if err == nil {
		project, failure := cli.ProjectFromOptions(context.Background(), options)
		if failure == nil {
			fmt.Println(project.ServiceNames())
			return
		}
		err = failure
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
`;

async function checkCompose(release: Release): Promise<string | undefined> {
  const reason = missing(['go']);
  if (reason !== undefined) return reason;
  await inFolder(async (folder) => {
    const file = join(await unpack(release, folder), 'compose.yaml');
    const loader = join(folder, 'loader');
    await mkdir(loader);
    await Bun.write(join(loader, 'main.go'), LOADER);
    const options = { cwd: loader };
    await runTool(['go', 'mod', 'init', 'loader'], options);
    await runTool(['go', 'get', `${COMPOSE}/cli@${COMPOSE_VERSION}`], options);
    await runTool(['go', 'build', '-o', 'loader', '.'], options);
    const settings = [
      `TOLLGATE_VERSION=${release.version}`,
      'POSTGRES_PASSWORD=password',
      `SESSION_SECRET=${'s'.repeat(32)}`,
      'BASE_URL=https://api.example.com',
    ];
    const services = await runTool(['./loader', file, ...settings], options);
    if (services.trim() !== '[database front limits node]') throw new Error(`it has ${services}`);
    const without = await runTool(['./loader', file], options).catch((error: Error) => error);
    if (typeof without === 'string') throw new Error('it starts without any setting');
  });
  return undefined;
}

async function checkHaproxy(release: Release): Promise<string | undefined> {
  const reason = missing(['haproxy']);
  if (reason !== undefined) return reason;
  await inFolder(async (folder) => {
    await runTool(['haproxy', '-c', '-f', join(await unpack(release, folder), 'haproxy.cfg')]);
  });
  return undefined;
}

async function unpack({ folder, version }: Release, into: string): Promise<string> {
  const name = `tollgate-${version}-cluster`;
  await runTool(['tar', '-xzf', join(folder, `${name}.tar.gz`), '-C', into]);
  return join(into, name);
}

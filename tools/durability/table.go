package main

// row is one call that makes something durable, or gives it its name.
type row struct {
	under   string // the heading of docs/durability.md
	file    string
	at      string // the call as it stands there, once
	lost    string // what is lost without it
	pkg     string // of the tests
	test    string // their names, separated by "|"
	mutants []mutant
}

// mutant is a change that the tests have to notice.
type mutant struct {
	how     string
	changes []string // text and what stands in its place, by turns
}

func without(changes ...string) mutant { return mutant{"left out", changes} }

// exemption is a file whose calls have no mutant.
type exemption struct{ file, why string }

var exempt = []exemption{
	{"inbox/rename_darwin.go", "macOS's way to rename without replacing; that of Linux has a row"},
	{"inbox/rename_other.go", "as above, for other systems"},
	{"journal/fs_other.go", "macOS's sync, which Go makes a full one; that of Linux has a row"},
}

const introduction = `# Durability

What a loop promises to keep is in [format.md](format.md#durability). Each sync and each rename below is there for a part
of that promise. A named test fails when the call is left out, or when it comes after what depends on it:
` + "`make mutate-durability`" + ` tries each of these mutants, and fails where one is not noticed or a call has no row. The table is
` + "`tools/durability/table.go`" + `, from which ` + "`make docs`" + ` writes this page.

The tests run on a simulated disk that loses its power at a chosen change and forgets what was not synced; of
names it then has any of those that were not synced, in no order. That a sync reaches the kernel is seen where
the kernel refuses it (` + "`/proc`" + `).

Not synced, because nothing is lost that cannot be made again: names of projections, of
config.json and of task.md, run.lock, logs of guardrails, the claim and the rejection of a command, .gitignore.
`

var table = []row{
	{
		under: "The journal", file: "journal/writer.go",
		at:   "if err := w.folder.SyncFolder(\".\"); err != nil {",
		lost: "the folder of segments, with all of them",
		pkg:  "journal", test: "TestNoCrashLosesAnEvent",
		mutants: []mutant{without("if err := w.folder.SyncFolder(\".\"); err != nil {", "if err := error(nil); err != nil {")},
	},
	{
		under: "The journal", file: "journal/writer.go",
		at:   "err = f.Sync()\n\t}\n\treturn errors.Join(err, f.Close())",
		lost: "a segment's first line, a blob's text",
		pkg:  "journal", test: "TestNoCrashLosesAnEvent",
		mutants: []mutant{
			without("err = f.Sync()\n\t}\n\treturn errors.Join(err, f.Close())", "err = nil\n\t}\n\treturn errors.Join(err, f.Close())"),
			{"moved after a segment's name", []string{
				"err = f.Sync()\n\t}\n\treturn errors.Join(err, f.Close())", "err = nil\n\t}\n\treturn errors.Join(err, f.Close())",
				"\tw.name, w.ordinal, w.iteration, w.lines = name,", "\tif err := f.Sync(); err != nil {\n\t\treturn err\n\t}\n\tw.name, w.ordinal, w.iteration, w.lines = name,",
			}},
		},
	},
	{
		under: "The journal", file: "journal/writer.go",
		at:   "w.folder.Rename(path+tmpExt, path)",
		lost: "a segment is seen that has no whole first line",
		pkg:  "journal", test: "TestNoCrashLosesAnEvent",
		mutants: []mutant{without("w.folder.Rename(path+tmpExt, path)", "error(nil)")},
	},
	{
		under: "The journal", file: "journal/writer.go",
		at:   "if err := w.folder.SyncFolder(segmentsDir)",
		lost: "a segment, with all its synced events",
		pkg:  "journal", test: "TestNoCrashLosesAnEvent",
		mutants: []mutant{without("if err := w.folder.SyncFolder(segmentsDir)", "if err := error(nil)")},
	},
	{
		under: "The journal", file: "journal/writer.go",
		at:   "return sum, w.Sync()",
		lost: "the end of a segment that the next one names with its hash",
		pkg:  "journal", test: "TestNoCrashLosesAnEvent",
		mutants: []mutant{without("return sum, w.Sync()", "return sum, nil")},
	},
	{
		under: "The journal", file: "journal/sync.go",
		at:   "return w.syncer.sync()",
		lost: "what an effect that cannot be undone was decided by, or a command",
		pkg:  "journal", test: "TestNoCrashLosesAnEvent",
		mutants: []mutant{without("return w.syncer.sync()", "return nil")},
	},
	{
		under: "The journal", file: "journal/sync.go",
		at:   "err := s.target.Sync()",
		lost: "as above",
		pkg:  "journal", test: "TestNoCrashLosesAnEvent",
		mutants: []mutant{without("err := s.target.Sync()", "var err error")},
	},
	{
		under: "The journal", file: "journal/sync.go",
		at:   "w.sync() != nil",
		lost: "more than a second of events",
		pkg:  "journal", test: "TestTheBackgroundSyncs|TestManyUnsyncedBytesAreNotWaitedWith",
		mutants: []mutant{without("w.sync() != nil", "w.failure() != nil")},
	},
	{
		under: "The journal", file: "journal/fs_linux.go",
		at:   "err := unix.Fdatasync(int(f.Fd()))",
		lost: "everything: a sync that asks nobody",
		pkg:  "journal", test: "TestSyncsReachTheKernel",
		mutants: []mutant{without("err := unix.Fdatasync(int(f.Fd()))", "var err error")},
	},
	{
		under: "The journal", file: "journal/fs_unix.go",
		at:   "return dir.Sync()",
		lost: "every name: a sync that asks nobody",
		pkg:  "journal", test: "TestSyncsReachTheKernel",
		mutants: []mutant{without("return dir.Sync()", "return nil")},
	},
	{
		under: "The journal", file: "journal/fs_os.go",
		at:   "return o.root.Rename(from, to)",
		lost: "every segment",
		pkg:  "journal", test: "TestOlderSegmentsAreCompressed",
		mutants: []mutant{without("return o.root.Rename(from, to)", "return nil")},
	},
	{
		under: "Blobs", file: "journal/blob.go",
		at:   "if err := w.folder.SyncFolder(\".\"); err != nil {",
		lost: "the folder of blobs",
		pkg:  "journal", test: "TestABlobOutlivesALossOfPowerWhoeverMadeItsFolder",
		mutants: []mutant{without("if err := w.folder.SyncFolder(\".\"); err != nil {", "if err := error(nil); err != nil {")},
	},
	{
		under: "Blobs", file: "journal/blob.go",
		at:   "w.folder.Rename(name+tmpExt, name)",
		lost: "every blob",
		pkg:  "journal", test: "TestABlobOutlivesALossOfPowerWhoeverMadeItsFolder",
		mutants: []mutant{without("w.folder.Rename(name+tmpExt, name)", "error(nil)")},
	},
	{
		under: "Blobs", file: "journal/blob.go",
		at:   "return w.folder.SyncFolder(blobsDir)",
		lost: "a text that an event names",
		pkg:  "journal", test: "TestABlobOutlivesALossOfPowerWhoeverMadeItsFolder",
		mutants: []mutant{without("return w.folder.SyncFolder(blobsDir)", "return nil")},
	},
	{
		under: "Recovery", file: "journal/repair.go",
		at:   "return Recovery{}, false, r.folder.SyncFolder(segmentsDir)",
		lost: "the journal: two segments have one ordinal",
		pkg:  "journal", test: "TestARecoveredSegmentIsDurableBeforeTheNext",
		mutants: []mutant{without("return Recovery{}, false, r.folder.SyncFolder(segmentsDir)", "return Recovery{}, false, nil")},
	},
	{
		under: "Recovery", file: "journal/repair.go",
		at:   "err = side.Sync()",
		lost: "the unfinished line that is cut off",
		pkg:  "journal", test: "TestCutOffBytesOutliveALossOfPower",
		mutants: []mutant{
			without("err = side.Sync()", "err = nil"),
			{"moved after the cut", cutAfterRenewal},
		},
	},
	{
		under: "Recovery", file: "journal/repair.go",
		at:   "return name, r.folder.SyncFolder(segmentsDir)",
		lost: "as above",
		pkg:  "journal", test: "TestCutOffBytesOutliveALossOfPower",
		mutants: []mutant{
			without("return name, r.folder.SyncFolder(segmentsDir)", "return name, nil"),
			{"moved after the cut", cutAfterRenewal},
		},
	},
	{
		under: "Recovery", file: "journal/repair.go",
		at:   "err = copied.Sync()",
		lost: "events that were durable: the copy takes their place",
		pkg:  "journal", test: "TestNoCrashLosesAnEvent|TestARecoveredSegmentIsDurableBeforeTheNext",
		mutants: []mutant{
			without("err = copied.Sync()", "err = nil"),
			{"moved after the rename", []string{
				"\tif err == nil {\n\t\terr = copied.Sync()\n\t}\n\tif err = errors.Join(err, copied.Close()); err != nil {\n\t\treturn err\n\t}\n", "\tif err != nil {\n\t\treturn err\n\t}\n",
				"r.folder.Rename(tmp, info.path); err != nil {\n\t\treturn err\n\t}\n\treturn r.folder.SyncFolder(segmentsDir)",
				"r.folder.Rename(tmp, info.path); err != nil {\n\t\treturn err\n\t}\n\treturn errors.Join(r.folder.SyncFolder(segmentsDir), copied.Sync(), copied.Close())",
			}},
		},
	},
	{
		under: "Recovery", file: "journal/repair.go",
		at:   "r.folder.Rename(tmp, info.path)",
		lost: "what a killed process had not synced, or failed to sync",
		pkg:  "journal", test: "TestRecoverMakesDurableWhatTheDeadWriterLeft",
		mutants: []mutant{without("r.folder.Rename(tmp, info.path)", "error(nil)")},
	},
	{
		under: "Recovery", file: "journal/repair.go",
		at:   "\t\treturn err\n\t}\n\treturn r.folder.SyncFolder(segmentsDir)",
		lost: "events that the next segment's hash counts on",
		pkg:  "journal", test: "TestARecoveredSegmentIsDurableBeforeTheNext",
		mutants: []mutant{without("\t\treturn err\n\t}\n\treturn r.folder.SyncFolder(segmentsDir)", "\t\treturn err\n\t}\n\treturn nil")},
	},
	{
		under: "Recovery", file: "journal/standing.go",
		at:   "f.Sync()",
		lost: "after a full disk, events that the last segment's hash counts on",
		pkg:  "journal", test: "TestAStandingSegmentIsDurableBeforeTheNext",
		mutants: []mutant{without("f.Sync()", "nil")},
	},
	{
		under: "Compaction", file: "journal/house.go",
		at:   "return h.folder.SyncFolder(segmentsDir)",
		lost: "the journal: a later segment goes while an earlier one stays",
		pkg:  "journal", test: "TestDroppedSegmentsLeaveNoHoleAfterALossOfPower",
		mutants: []mutant{
			without("return h.folder.SyncFolder(segmentsDir)", "return nil"),
			{"moved after all of them", []string{
				"return h.folder.SyncFolder(segmentsDir)", "return nil",
				"\tif !h.compress {\n\t\treturn\n\t}\n\tfor _, s := range list", "\t_ = h.folder.SyncFolder(segmentsDir)\n\tif !h.compress {\n\t\treturn\n\t}\n\tfor _, s := range list",
			}},
		},
	},
	{
		under: "Compaction", file: "journal/house.go",
		at:   "err = dst.Sync()",
		lost: "a segment: its plain file goes while the compressed one is not durable",
		pkg:  "journal", test: "TestNoCrashLosesACompressedSegment",
		mutants: []mutant{
			without("err = dst.Sync()", "err = nil"),
			{"moved after the removal", []string{
				"\tif err == nil {\n\t\terr = dst.Sync()\n\t}\n\tif err = errors.Join(err, dst.Close()); err != nil {", "\tif err != nil {",
				"\treturn h.folder.Remove(s.path)", "\treturn errors.Join(h.folder.Remove(s.path), dst.Sync(), dst.Close())",
			}},
		},
	},
	{
		under: "Compaction", file: "journal/house.go",
		at:   "h.folder.Rename(tmp, packed)",
		lost: "as above",
		pkg:  "journal", test: "TestNoCrashLosesACompressedSegment",
		mutants: []mutant{without("h.folder.Rename(tmp, packed)", "error(nil)")},
	},
	{
		under: "Compaction", file: "journal/house.go",
		at:   "if err := h.folder.SyncFolder(segmentsDir); err != nil {\n\t\treturn err\n\t}\n\treturn h.folder.Remove(s.path)",
		lost: "as above",
		pkg:  "journal", test: "TestNoCrashLosesACompressedSegment",
		mutants: []mutant{
			without("if err := h.folder.SyncFolder(segmentsDir); err != nil {\n\t\treturn err\n\t}\n\treturn h.folder.Remove(s.path)", "return h.folder.Remove(s.path)"),
			{"moved after the removal", []string{
				"if err := h.folder.SyncFolder(segmentsDir); err != nil {\n\t\treturn err\n\t}\n\treturn h.folder.Remove(s.path)",
				"if err := h.folder.Remove(s.path); err != nil {\n\t\treturn err\n\t}\n\treturn h.folder.SyncFolder(segmentsDir)",
			}},
		},
	},
	{
		under: "The loop", file: "internal/loop/engine.go",
		at:   "return e.Sync()",
		lost: "the end of an iteration, or of the loop",
		pkg:  "internal/loop", test: "TestEngineSyncsBeforeWhatCannotBeUndone|TestDriverEndsWithItsLoop",
		mutants: []mutant{without("return e.Sync()", "return nil")},
	},
	{
		under: "The loop", file: "internal/loop/engine.go",
		at:   "if err := e.Sync()",
		lost: "the decision of something that cannot be undone: it is done twice",
		pkg:  "internal/loop", test: "TestEngineSyncsBeforeWhatCannotBeUndone|TestEngineSyncsBeforeACommit",
		mutants: []mutant{
			without("if err := e.Sync()", "if err := error(nil)"),
			{"moved after the effect", []string{
				"if err := e.Sync()", "if err := error(nil)",
				"\te.Hands.Do(*d.Do, cause, &e.state)\n\treturn nil", "\te.Hands.Do(*d.Do, cause, &e.state)\n\tif irrevocable(d.Do.Do) {\n\t\treturn e.Sync()\n\t}\n\treturn nil",
			}},
		},
	},
	{
		under: "The loop", file: "internal/loop/engine.go",
		at:   "e.Journal.Sync()",
		lost: "all of the above",
		pkg:  "internal/loop", test: "TestEngineSyncsBeforeWhatCannotBeUndone",
		mutants: []mutant{without("e.Journal.Sync()", "error(nil)")},
	},
	{
		under: "The loop", file: "internal/loop/driver.go",
		at:   "if err := d.Engine.Sync()",
		lost: "a command: its file goes while its receipt is not on the disk",
		pkg:  "internal/loop", test: "TestDriverTellsWhenCommandsAreDurable",
		mutants: []mutant{
			without("if err := d.Engine.Sync()", "if err := error(nil)"),
			{"moved after the file's removal", []string{
				"if err := d.Engine.Sync(); err != nil {\n\t\treturn err\n\t}\n\tin.Synced()\n", "in.Synced()\n\tif err := d.Engine.Sync(); err != nil {\n\t\treturn err\n\t}\n",
			}},
		},
	},
	{
		under: "A new loop", file: "internal/runner/enrol.go",
		at:   "cmp.Or(f.Writer.Sync(), f.enrolled())",
		lost: "a loop whose agent is at work: no list shows it, a loss of power takes its folder, or there is no room for its end",
		pkg:  "internal/runner", test: "TestAnAgentWaitsForTheEntry|TestAnAgentWaitsForTheFoldersNames|TestAFoundedJournalIsSynced",
		mutants: []mutant{
			{"what stands beside the journal is not waited for", []string{"cmp.Or(f.Writer.Sync(), f.enrolled())", "f.Writer.Sync()"}},
			{"the journal's sync is left out", []string{"cmp.Or(f.Writer.Sync(), f.enrolled())", "f.enrolled()"}},
		},
	},
	{
		under: "A new loop", file: "internal/runner/enrol.go",
		at:   "cmp.Or(syncFolder(around), syncFolder(filepath.Dir(around)))",
		lost: "the loop's folder, with its journal",
		pkg:  "internal/runner", test: "TestAnAgentWaitsForTheFoldersNames",
		mutants: []mutant{
			{"the loop's folder is not synced", []string{"cmp.Or(syncFolder(around), syncFolder(filepath.Dir(around)))", "syncFolder(filepath.Dir(around))"}},
			{"the project's folder is not synced", []string{"cmp.Or(syncFolder(around), syncFolder(filepath.Dir(around)))", "syncFolder(around)"}},
		},
	},
	{
		under: "A new loop", file: "internal/runner/enrol.go",
		at:   "if err := syncFolder(folder)",
		lost: "the entry in the registry: the loop is in no list",
		pkg:  "internal/runner", test: "TestAnAgentWaitsForTheFoldersNames",
		mutants: []mutant{without("if err := syncFolder(folder)", "if err := func(string) error { return nil }(folder)")},
	},
	{
		under: "A new loop", file: "internal/runner/takeup.go",
		at:   "if err := syncFolder(r.Dir)",
		lost: "config.json: a resume does not know what a person gave the loop",
		pkg:  "internal/runner", test: "TestAnAgentWaitsForTheFoldersNames",
		mutants: []mutant{without("if err := syncFolder(r.Dir)", "if err := error(nil)")},
	},
	{
		under: "A new loop", file: "internal/runner/settle.go",
		at:   "safefile.Dir(path).Sync()",
		lost: "all of the above",
		pkg:  "internal/runner", test: "TestWhatCannotBeSynced",
		mutants: []mutant{without("err := safefile.Dir(path).Sync()", "_, err := safefile.Dir(path), error(nil)")},
	},
	{
		under: "Commands", file: "inbox/drop.go",
		at:   "d.names().Sync()",
		lost: "a command that was taken",
		pkg:  "inbox", test: "TestADropSurvivesALossOfPower",
		mutants: []mutant{
			without("d.names().Sync()", "nil"),
			{"the name given before the file is synced", []string{
				"\t\terr = safefile.Fill(f, line)\n", "\t\terr = errors.Join(d.place(temp, id+droppedSuffix), safefile.Fill(f, line))\n",
				"\tif err == nil {\n\t\terr = d.place(temp, id+droppedSuffix)\n\t}\n", "",
			}},
		},
	},
	{
		under: "Commands", file: "inbox/box.go",
		at:   "d.names().Sync()",
		lost: "the id that a claim gave: the command is delivered twice",
		pkg:  "inbox", test: "TestAClaimKeepsItsIDAfterALossOfPower",
		mutants: []mutant{without("d.names().Sync()", "nil")},
	},
	{
		under: "Commands", file: "inbox/dir.go",
		at:   "renameNoReplace(d.handle, name, to.handle, newName)",
		lost: "every command",
		pkg:  "inbox", test: "TestDropOverwritesNothing",
		mutants: []mutant{without("renameNoReplace(d.handle, name, to.handle, newName)", "error(nil)")},
	},
	{
		under: "Commands", file: "inbox/rename_linux.go",
		at:   "unix.Renameat2(int(from.Fd()), name, int(to.Fd()), newName, unix.RENAME_NOREPLACE)",
		lost: "every command",
		pkg:  "inbox", test: "TestDropOverwritesNothing",
		mutants: []mutant{
			without("unix.Renameat2(int(from.Fd()), name, int(to.Fd()), newName, unix.RENAME_NOREPLACE)", "error(nil)"),
			{"over what has the name", []string{"unix.RENAME_NOREPLACE", "0"}},
		},
	},
	{
		under: "Commands", file: "inbox/rename_unix.go",
		at:   "unix.Renameat(int(from.Fd()), name, int(to.Fd()), newName)",
		lost: "every command, on NFS",
		pkg:  "inbox", test: "TestRenameIfFree",
		mutants: []mutant{without("unix.Renameat(int(from.Fd()), name, int(to.Fd()), newName)", "nil")},
	},
	{
		under: "Files put in place", file: "internal/safefile/safefile.go",
		at:   "err = f.Sync()",
		lost: "a command, a task, an entry of the registry, a projection, a copy of a guardrail or settings of which there is half",
		pkg:  "internal/safefile", test: "TestReplaceSurvivesAtEveryChange",
		mutants: []mutant{
			without("err = f.Sync()", "err = nil"),
			{"moved after the rename", []string{
				"\t\terr = Fill(f, content)\n", "\t\t_, err = f.Write(content)\n",
				"\t\terr = folder.Rename(beside, name)\n", "\t\terr = errors.Join(folder.Rename(beside, name), f.Sync(), f.Close())\n",
			}},
		},
	},
	{
		under: "Files put in place", file: "internal/safefile/safefile.go",
		at:   "err = f.Sync()",
		lost: "the same, of a command",
		pkg:  "inbox", test: "TestADropSurvivesALossOfPower",
		mutants: []mutant{without("err = f.Sync()", "err = nil")},
	},
	{
		under: "Files put in place", file: "internal/safefile/safefile.go",
		at:   "err = f.Sync()",
		lost: "the same, of an entry of the registry",
		pkg:  "registry", test: "TestAnEntryIsWholeAfterALossOfPower",
		mutants: []mutant{without("err = f.Sync()", "err = nil")},
	},
	{
		under: "Files put in place", file: "internal/safefile/safefile.go",
		at:   "err = f.Sync()",
		lost: "the same, of a projection",
		pkg:  "projector", test: "TestAProjectionIsWholeAfterALossOfPower",
		mutants: []mutant{without("err = f.Sync()", "err = nil")},
	},
	{
		under: "Files put in place", file: "internal/safefile/safefile.go",
		at:   "folder.Rename(beside, name)",
		lost: "the file",
		pkg:  "internal/safefile", test: "TestReplaceSurvivesAtEveryChange",
		mutants: []mutant{without("folder.Rename(beside, name)", "error(nil)")},
	},
	{
		under: "Files put in place", file: "internal/safefile/safefile.go",
		at:   "err = parent.Sync()",
		lost: "an inbox with the first command in it",
		pkg:  "inbox", test: "TestADropSurvivesALossOfPower",
		mutants: []mutant{without("err = parent.Sync()", "err = nil")},
	},
	{
		under: "Files put in place", file: "internal/safefile/os.go",
		at:   "return os.Rename(d.at(from), d.at(to))",
		lost: "the file",
		pkg:  "internal/safefile", test: "TestReplaceOnDisk",
		mutants: []mutant{without("return os.Rename(d.at(from), d.at(to))", "return nil")},
	},
	{
		under: "Files put in place", file: "internal/safefile/os.go",
		at:   "syncNames(folder)",
		lost: "every name",
		pkg:  "internal/safefile", test: "TestMoveIsDurable",
		mutants: []mutant{without("syncNames(folder)", "error(nil)")},
	},
	{
		under: "Files put in place", file: "internal/safefile/sync_unix.go",
		at:   "return folder.Sync()",
		lost: "every name: a sync that asks nobody",
		pkg:  "internal/safefile", test: "TestSyncOfAFolderReachesTheKernel",
		mutants: []mutant{without("return folder.Sync()", "return nil")},
	},
	{
		under: "Files put in place", file: "internal/safefile/os.go",
		at:   "if err := os.Rename(from, to)",
		lost: "an archived loop",
		pkg:  "internal/safefile", test: "TestMoveIsDurable",
		mutants: []mutant{without("if err := os.Rename(from, to)", "if err := error(nil)")},
	},
	{
		under: "Files put in place", file: "internal/safefile/os.go",
		at:   "errors.Join(Dir(filepath.Dir(to)).Sync(), Dir(filepath.Dir(from)).Sync())",
		lost: "an archived loop, when the next one takes its name",
		pkg:  "internal/safefile", test: "TestMoveIsDurable",
		mutants: []mutant{
			{"the new folder's is left out", []string{"errors.Join(Dir(filepath.Dir(to)).Sync(), Dir(filepath.Dir(from)).Sync())", "Dir(filepath.Dir(from)).Sync()"}},
			{"the old folder's is left out", []string{"errors.Join(Dir(filepath.Dir(to)).Sync(), Dir(filepath.Dir(from)).Sync())", "Dir(filepath.Dir(to)).Sync()"}},
			{"the two change places", []string{"errors.Join(Dir(filepath.Dir(to)).Sync(), Dir(filepath.Dir(from)).Sync())", "errors.Join(Dir(filepath.Dir(from)).Sync(), Dir(filepath.Dir(to)).Sync())"}},
		},
	},
	{
		under: "Guardrails", file: "internal/guardrail/keep.go",
		at:   "errors.Join(kept.Sync(), loop.Sync())",
		lost: "what a protected guardrail is put back from",
		pkg:  "internal/guardrail", test: "TestCopiesSurviveALossOfPower",
		mutants: []mutant{
			{"the copies' folder is not synced", []string{"errors.Join(kept.Sync(), loop.Sync())", "loop.Sync()"}},
			{"the loop's folder is not synced", []string{"errors.Join(kept.Sync(), loop.Sync())", "kept.Sync()"}},
			{"moved before the copies", []string{
				"\treturn errors.Join(kept.Sync(), loop.Sync())", "\treturn nil",
				"\tfor sum, body := range copies {\n", "\tif err := errors.Join(kept.Sync(), loop.Sync()); err != nil {\n\t\treturn err\n\t}\n\tfor sum, body := range copies {\n",
			}},
		},
	},
	{
		under: "Guardrails", file: "internal/guardrail/restore.go",
		at:   "root.Rename(beside, e.path)",
		lost: "the guardrail that is put back",
		pkg:  "internal/guardrail", test: "TestChangesAreSeenAndUndone",
		mutants: []mutant{without("root.Rename(beside, e.path)", "error(nil)")},
	},
	{
		under: "Guardrails", file: "internal/guardrail/restore.go",
		at:   "return root.Rename(name, aside)",
		lost: "what stands in the way of a guardrail that is put back",
		pkg:  "internal/guardrail", test: "TestWhatAppearedIsKeptAside",
		mutants: []mutant{without("return root.Rename(name, aside)", "return nil")},
	},
	{
		under: "The repository", file: "internal/repo/commit.go",
		at:   "err = os.Rename(lock.Name(), path)",
		lost: "git's index as it was before a commit that failed",
		pkg:  "internal/repo", test: "TestAFailingHookLeavesAllAsItWas",
		mutants: []mutant{without("err = os.Rename(lock.Name(), path)", "err = nil")},
	},
}

// cutAfterRenewal cuts the copy first and keeps the bytes then.
var cutAfterRenewal = []string{
	"\t} else if err := r.cut(info, l.file, seg.at); err != nil {\n\t\treturn Recovery{}, false, err\n\t}\n",
	"\t} else if seg.seq == 0 {\n\t\tif err := r.cut(info, l.file, seg.at); err != nil {\n\t\t\treturn Recovery{}, false, err\n\t\t}\n\t}\n",
	"\trec.Position = seg.position()\n",
	"\tif l.packed == nil {\n\t\tif err := r.cut(info, l.file, seg.at); err != nil {\n\t\t\treturn Recovery{}, false, err\n\t\t}\n\t}\n\trec.Position = seg.position()\n",
}

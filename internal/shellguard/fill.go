package shellguard

import "sync"

// fill fills the tables at the first use: most processes of the program judge no command. The order
// matters, and the tables cannot be literals, because their functions use them.
var fill = sync.OnceFunc(func() {
	systemFolders = words2set(systemNames)
	loopFiles = words2set(loopNames)
	harmlessPrograms = words2set(harmlessNames)
	languages = words2set(languageNames)
	fillRules()
	fillRunners()
	fillPrinters()
})
